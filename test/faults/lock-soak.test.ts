// Many holders of one lock, in trouble of every kind, write down what they believe; a checker reads it.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AmbiguousError, DriverError, type Lease, LeaseLostError, WaitTimeoutError } from 'perilune'
import { expect, onTestFinished, test } from 'vitest'
import { type Setup, setup } from '../lock-fixture.ts'
import { LONG, SEED, tell } from '../proof.ts'
import { until } from '../servers/ask.ts'
import { type Proxy, startProxy } from '../servers/proxy.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { seeded } from '../soak/random.ts'
import { checkLeases, type Held } from './check-leases.ts'

const RUN_MS = LONG ? 30_000 : 3000

interface Scene {
  server: RedisServer
  near: Setup
  far: Setup[]
  proxies: Proxy[]
}

async function arrange(): Promise<Scene> {
  const server = await startRedis({ aof: 'always' })
  onTestFinished(() => server.stop())
  const near = await setup({ clock: 'real', port: server.port, name: randomUUID() })
  const proxies = await Promise.all([1, 2, 3].map(() => startProxy(server.port)))
  onTestFinished(async () => void (await Promise.all(proxies.map((proxy) => proxy.stop()))))
  const far = await Promise.all(
    proxies.map(({ port }) => setup({ clock: 'real', port, name: near.name, lease: '400ms' })),
  )
  return { server, near, far, proxies }
}

class Workers {
  readonly history: Held[] = []
  readonly #random = seeded(SEED)
  readonly #endsAt = performance.now() + RUN_MS

  async work({ lock }: Setup): Promise<void> {
    while (performance.now() < this.#endsAt) {
      const shared = this.#random() < 0.3
      const signal = this.#random() < 0.2 ? AbortSignal.timeout(Math.floor(this.#random() * 40)) : undefined
      const side = shared ? lock.shared : lock
      await side
        .acquire({ wait: '2s', ...(signal ? { signal } : {}) })
        .then((lease) => this.#hold(lease, shared))
        .catch(expected)
    }
  }

  async #hold(lease: Lease, shared: boolean): Promise<void> {
    const from = performance.now()
    const lost = new Promise<number>((resolve) =>
      lease.signal.addEventListener('abort', () => resolve(performance.now())),
    )
    const done = sleep(this.#random() < 0.05 ? 600 : this.#random() * 10).then(() => performance.now())
    const endedAt = await Promise.race([lost, done])
    this.history.push({ token: lease.token, shared, from, until: endedAt })
    await lease.release()
  }
}

function expected(error: unknown): void {
  const kinds = [LeaseLostError, WaitTimeoutError, AmbiguousError, DriverError]
  const timedOut = error instanceof DOMException && error.name === 'TimeoutError'
  if (!timedOut && !kinds.some((kind) => error instanceof kind)) throw error
}

async function trouble({ server, proxies }: Scene, random: () => number, endsAt: number): Promise<void> {
  let killed = false
  while (performance.now() < endsAt) {
    await sleep(40)
    const proxy = proxies[Math.floor(random() * proxies.length)]
    const kind = random()
    if (kind < 0.3) proxy?.resetAll()
    else if (kind < 0.6) proxy?.cutReplies(1, /evalsha/i)
    else if (kind < 0.8) proxy?.dropRequests(1, /evalsha/i)
    else proxy?.delay(random() < 0.5 ? 20 : 0)
    if (killed || performance.now() < endsAt - RUN_MS / 2) continue
    killed = true
    await server.kill()
    await server.restart()
  }
  for (const proxy of proxies) proxy.delay(0)
}

test('under every kind of fault there is at most one holder, and tokens rise', {
  timeout: RUN_MS + 60_000,
}, async () => {
  const scene = await arrange()
  const workers = new Workers()
  const unhandled: unknown[] = []
  const note = (error: unknown): void => void unhandled.push(error)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))

  const instances = [scene.near, ...scene.far].flatMap((one) => [one, one, one, one])
  await Promise.all([
    trouble(scene, seeded(SEED + 1), performance.now() + RUN_MS),
    ...instances.map((one) => workers.work(one)),
  ])

  const problems = checkLeases(workers.history)
  tell(`${workers.history.length} leases in ${RUN_MS / 1000} s of trouble, ${problems.length} problems`)
  expect(problems).toEqual([])
  expect(unhandled).toEqual([])
  expect(workers.history.length).toBeGreaterThan(20)
  await until('nothing is left', async () => {
    const { mode, waiting } = await scene.near.lock.inspect()
    return mode === 'free' && waiting === 0
  })
})

const good: Held[] = [
  { token: 1, shared: false, from: 0, until: 5 },
  { token: 2, shared: true, from: 6, until: 9 },
  { token: 3, shared: true, from: 7, until: 10 },
  { token: 4, shared: false, from: 10, until: 12 },
]

test('the checker finds nothing in a good history', () => {
  expect(checkLeases(good)).toEqual([])
})

test.each([
  ['two at once', { token: 5, shared: false, from: 11, until: 13 }, '4 and 5 were held at once'],
  ['a reader beside one alone', { token: 5, shared: true, from: 11, until: 13 }, '4 and 5 were held at once'],
  [
    'a token that was given twice',
    { token: 4, shared: false, from: 13, until: 14 },
    'token 4 was granted twice',
  ],
  ['a token that falls', { token: 0.5, shared: false, from: 13, until: 14 }, '0.5 was granted after 4'],
])('the checker finds %s', (_what, spoilt, problem) => {
  expect(checkLeases([...good, spoilt])).toContain(problem)
})
