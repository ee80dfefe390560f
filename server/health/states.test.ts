// Rights and refused connections: why the service is not ready, on servers with users.

import { spawn } from 'node:child_process'
import { onTestFinished, describe, expect, test } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import { ask, withClient } from '../../test/servers/ask.ts'
import { startRedis } from '../../test/servers/redis.ts'
import { needsOf } from '../../tools/doctor/rights.ts'
import { startApp, type TestApp } from '../testing/test-app.ts'
import { commandOf, EXAMPLES } from './rights.ts'

const COMMANDS = EXAMPLES.map(commandOf)
const rules = Object.values(contract.structures).map(({ acl }) => acl)

async function open(namespace = 'perilune') {
  const redis = await startRedis()
  const app = await startApp(redis.port, { namespace, deadline: '1s' })
  onTestFinished(async () => {
    await app[Symbol.asyncDispose]()
    await redis.stop()
  })
  const reason = async (): Promise<string | null> => {
    const { status, json } = await app.call('GET', '/readyz')
    return status === 503 ? json.description : `${status}`
  }
  return { port: redis.port, app, reason }
}

/** The service connects as another user from now on. */
function connectAs({ client }: TestApp, username: string, password: string): void {
  Object.assign(client.options, { username, password })
  client.disconnect(true)
}

const rightsIn = (rule: string): string[] =>
  rule
    .replaceAll('<namespace>', 'perilune')
    .split(' ')
    .filter((each) => !/^(reset|-@)/.test(each))

test('the rights that readiness asks about are those without which a script fails', () => {
  const structures = Object.keys(contract.structures)
  const options = { namespace: 'perilune', contract, structures, address: { db: 0 } }
  const rights = needsOf({ options, nodes: [], isCluster: false } as never).flatMap((each) => each.rights)

  const vital = new Set(
    rights.flatMap(({ command, vital: isVital }) => (isVital ? command.replace('|', ' ') : [])),
  )
  expect(COMMANDS).toEqual([...vital].toSorted())
})

test('each right is asked about with all arguments that its command needs', async () => {
  const { port } = await open()

  const asked = EXAMPLES.map((example) => ask(port, 'ACL', 'DRYRUN', 'default', ...example.split(' ')))

  expect(new Set(await Promise.all(asked))).toEqual(new Set(['OK']))
})

describe('a service whose user', () => {
  test('has the rights that the pages name is ready', async () => {
    const { port, app, reason } = await open()
    const given = rules.flatMap((rule) => rightsIn(rule))
    await ask(port, 'ACL', 'SETUSER', 'service', 'on', '>secret', '-@all', ...given)

    connectAs(app, 'service', 'secret')

    await expect.poll(() => app.client.call('ACL', 'WHOAMI').catch(String)).toMatch(/NOPERM/)
    expect(await reason()).toBe('200')
  })

  test('has those rights for the keys of their structure only is ready', async () => {
    const { port, app, reason } = await open()
    const selectors = rules.map((rule) => `(${rightsIn(rule).join(' ')})`)
    await ask(port, 'ACL', 'SETUSER', 'service', 'on', '>secret', '-@all', ...selectors)

    connectAs(app, 'service', 'secret')

    await expect.poll(() => app.client.call('ACL', 'WHOAMI').catch(String)).toMatch(/NOPERM/)
    expect(await reason()).toBe('200')
  })

  test('may not run one of the commands of the scripts is not ready, and says so', async () => {
    const { port, reason } = await open()
    const reasons: (string | null)[] = []
    for (const command of COMMANDS) {
      await ask(port, 'ACL', 'SETUSER', 'default', '+@all', `-${command.replace(' ', '|')}`)
      reasons.push(await reason())
    }
    await ask(port, 'ACL', 'SETUSER', 'default', '+@all')

    expect(reasons).toEqual(
      COMMANDS.map(
        (command) =>
          `Not ready: this user of Redis may not run ${command.toUpperCase()}; docs/compatibility.md names what it needs.`,
      ),
    )
    expect(await reason()).toBe('200')
  })

  test('may not PING is not ready, and says so', async () => {
    const { port, reason } = await open()
    await ask(port, 'ACL', 'SETUSER', 'default', '-ping')

    expect(await reason()).toBe(
      'Not ready: this user of Redis may not run PING; docs/compatibility.md names what it needs.',
    )
  })

  const REFUSED =
    'Not ready: Redis refuses the user name or password of REDIS_URL: they are wrong, or the user is switched off.'
  const WANTED =
    'Not ready: Redis wants a password, and REDIS_URL has none, or the default user is switched off.'
  const changes: [what: string, change: string[], user: string, words: string][] = [
    ['is switched off', ['service', 'off'], 'service', REFUSED],
    ['has another password', ['service', 'resetpass', '>other'], 'service', REFUSED],
    ['is the default user, which is switched off', ['default', 'off'], 'default', WANTED],
  ]

  test.each(changes)('%s is not ready, and says so', async (_, change, user, words) => {
    const { port, app, reason } = await open()
    const all = ['on', '>secret', '~*', '&*', '+@all']
    for (const name of ['service', 'admin']) await ask(port, 'ACL', 'SETUSER', name, ...all)
    if (user === 'service') connectAs(app, user, 'secret')
    await expect.poll(() => app.client.call('ACL', 'WHOAMI').catch(String)).toBe(user)
    expect(await reason()).toBe('200')

    await withClient(port, async (client) => {
      await client.auth('admin', 'secret')
      await client.call('ACL', 'SETUSER', ...change)
      app.client.disconnect(true)
      await expect.poll(reason).toBe(words)
      await client.call('ACL', 'SETUSER', user, ...all, ...(user === 'default' ? ['nopass'] : []))
      await expect.poll(reason).toBe('200')
    })
  })
})

test('a Redis that takes no more connections is reported as such, and is ready again when it does', async () => {
  const { port, app, reason } = await open()

  await withClient(port, async (client) => {
    await client.config('SET', 'maxclients', '1')
    app.client.disconnect(true)
    await expect
      .poll(reason)
      .toBe('Not ready: Redis takes no more connections: it has as many as its maxclients allows.')
    await client.config('SET', 'maxclients', '1000')
    await expect.poll(reason).toBe('200')
  })
})

test('a Redis that loads its data after a restart is reported as such', async () => {
  const redis = await startRedis()
  const app = await startApp(redis.port, { deadline: '1s' })
  onTestFinished(() => app[Symbol.asyncDispose]())
  await withClient(redis.port, async (client) => {
    const writes = client.pipeline()
    for (let n = 0; n < 3000; n += 1) writes.set(`k${n}`, 'x'.repeat(100))
    await writes.exec()
    await client.call('SAVE')
  })
  await redis.kill()
  // Five milliseconds for each key.
  const slowly = ['--key-load-delay', '5000', '--loading-process-events-interval-bytes', '1024']
  const own = ['--port', String(redis.port), '--bind', '127.0.0.1', '--dir', redis.dir, '--save', '']
  const again = spawn('redis-server', [...own, ...slowly], { stdio: 'ignore' })
  onTestFinished(async () => {
    again.kill('SIGKILL')
    await redis.stop()
  })

  await expect
    .poll(async () => (await app.call('GET', '/readyz')).json?.description, { timeout: 10_000 })
    .toMatch(/Redis is loading its data/)
})
