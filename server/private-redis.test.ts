// The private redis-server of the service, as its clients see it.
import { expect, onTestFinished, test } from 'vitest'
import { useRedis, type Machine, setup } from './engine/engine-fixture.ts'
import { type Service, startService } from './service.ts'

const HEADERS = { 'Client-ID': '3381af92-2b9e-11e3-b191-71861300734c', 'X-Project-ID': 'p' }

async function start(machine: Machine, settings: Record<string, string> = {}): Promise<Service> {
  const place = { PORT: '0', LOG_LEVEL: 'silent', PERILUNE_DATA: machine.directory, PATH: machine.path }
  const service = await startService({ ...place, ...settings }, (line) => machine.said.push(line))
  onTestFinished(() => service.close())
  return service
}

const post = async ({ url }: Service, body: unknown): Promise<number> => {
  const sent = JSON.stringify({ messages: [{ body }] })
  return (await fetch(`${url}/v2/queues/q/messages`, { method: 'POST', headers: HEADERS, body: sent })).status
}

const readiness = async ({ url }: Service): Promise<[number, unknown]> => {
  const answer = await fetch(`${url}/readyz`)
  const { description } = (await answer.json()) as { description?: unknown }
  return [answer.status, description]
}

test('a second service reports the address of the first', async () => {
  const machine = setup()
  useRedis(machine)
  const { url } = await start(machine)

  await expect(start(machine)).rejects.toThrow(
    `another perilune service (process ${process.pid}, ${url}) is already running on this data directory`,
  )
})

test('is restarted when it was killed, and /readyz reports it until it serves', async () => {
  const machine = setup()
  useRedis(machine)
  // Otherwise a killed server may lose what it has just acknowledged.
  const service = await start(machine, { PERILUNE_FSYNC: 'always' })
  expect(await post(service, 'kept')).toBe(201)
  useRedis(machine, 'while [ ! -e "${0%/*}/go" ]; do /bin/sleep 0.05; done')

  for (const pid of machine.servers()) process.kill(pid, 'SIGKILL')
  await expect
    .poll(() => readiness(service))
    .toEqual([503, 'Not ready: the private Redis has ended, and is being restarted.'])
  machine.program('go', '')
  await expect.poll(() => readiness(service)).toEqual([200, undefined])

  const read = await fetch(`${service.url}/v2/queues/q/messages?echo=true`, { headers: HEADERS })
  expect(await read.text()).toContain('"body":"kept"')
})

test('that cannot write to its disk is reported by /readyz, and stops with the service', async () => {
  const machine = setup()
  useRedis(machine, `trap '' XFSZ; ulimit -f 400`)
  const service = await start(machine)

  let status = 201
  while (status === 201) status = await post(service, 'x'.repeat(20_000))

  expect(status).toBe(503)
  expect(await readiness(service)).toEqual([
    503,
    'Not ready: Redis cannot write to its disk, and refuses writes until it can.',
  ])
  await service.close()
  expect(machine.servers()).toEqual([])
})
