import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ask, until } from '../../test/servers/ask.ts'
import { startCluster } from '../../test/servers/cluster.ts'
import { startRedis } from '../../test/servers/redis.ts'
import { type HttpAnswer, startApp, type TestApp } from '../testing/test-app.ts'

const post = (app: TestApp): Promise<HttpAnswer> =>
  app.call('POST', '/v2/queues/q/messages', { body: { messages: [{ body: 1 }] } })

test('health distinguishes a Redis that is away from a live process, and recovers by itself', async () => {
  const redis = await startRedis()
  {
    await using app = await startApp(redis.port, { deadline: '1s' })
    const statuses = async (): Promise<number[]> => {
      const answers = await Promise.all(
        ['/livez', '/readyz', '/v2/ping'].map((path) => app.call('GET', path)),
      )
      return answers.map(({ status }) => status)
    }
    expect(await statuses()).toEqual([200, 200, 204])
    expect((await post(app)).status).toBe(201)

    await redis.kill()
    expect(await statuses()).toEqual([200, 503, 503])
    expect((await app.call('GET', '/readyz')).json.description).toBe(
      'Not ready: Redis does not answer within a second.',
    )
    for (const refused of [await post(app), await app.call('GET', '/v2/queues/q/messages')]) {
      expect([refused.status, refused.json.title]).toEqual([503, 'Service temporarily unavailable'])
      expect(refused.text).not.toMatch(/127\.0\.0\.1|ECONN|feed|append|at /)
    }

    await redis.restart()
    while ((await app.call('GET', '/readyz')).status !== 200) await sleep(50)
    expect(await statuses()).toEqual([200, 200, 204])
    expect((await post(app)).status).toBe(201)
  }
  await redis.stop()
})

test('a Redis that hangs makes the service not ready, and the process stays alive', async () => {
  const redis = await startRedis()
  {
    await using app = await startApp(redis.port, { deadline: '1s' })
    process.kill(redis.pid, 'SIGSTOP')
    const [alive, ready] = await Promise.all([app.call('GET', '/livez'), app.call('GET', '/readyz')])
    process.kill(redis.pid, 'SIGCONT')

    expect([alive.status, ready.status]).toEqual([200, 503])
    while ((await app.call('GET', '/readyz')).status !== 200) await sleep(50)
  }
  await redis.stop()
})

test('a Redis that cannot write to its disk is reported as such, and is ready again when it can', async () => {
  const redis = await startRedis()
  await ask(redis.port, 'CONFIG', 'SET', 'save', '3600 1000000')
  const inItsWay = join(redis.dir, 'dump.rdb')
  {
    await using app = await startApp(redis.port, { deadline: '1s' })
    mkdirSync(inItsWay)
    await ask(redis.port, 'BGSAVE')
    await until('its writing has failed', async () => (await post(app)).status === 503)

    const ready = await app.call('GET', '/readyz')
    expect([ready.status, ready.json.description]).toEqual([
      503,
      'Not ready: Redis cannot write to its disk, and refuses writes until it can.',
    ])

    rmSync(inItsWay, { recursive: true })
    await ask(redis.port, 'BGSAVE')
    while ((await app.call('GET', '/readyz')).status !== 200) await sleep(50)
  }
  await redis.stop()
})

test('a Redis that is busy with a script is reported as such', async () => {
  const redis = await startRedis({ args: ['--busy-reply-threshold', '10'] })
  {
    await using app = await startApp(redis.port, { deadline: '1s' })
    const endless = ask(redis.port, 'EVAL', 'while true do end', 0).catch(String)
    const description = async (): Promise<unknown> => (await app.call('GET', '/readyz')).json.description
    await expect.poll(description).toBe('Not ready: Redis is busy with a script.')
    await ask(redis.port, 'SCRIPT', 'KILL')
    await endless
  }
  await redis.stop()
})

test('a Redis that has been given a password is reported as such', async () => {
  const redis = await startRedis()
  {
    await using app = await startApp(redis.port, { deadline: '1s' })
    await app.client.config('SET', 'requirepass', 'secret')
    app.client.disconnect(true)
    const description = async (): Promise<unknown> => (await app.call('GET', '/readyz')).json.description
    await expect
      .poll(description)
      .toBe('Not ready: Redis wants a password, and REDIS_URL has none, or the default user is switched off.')
  }
  await redis.stop()
})

test('a service is not ready while no write can succeed, or if its user may not write for a structure', async () => {
  const redis = await startRedis()
  {
    await using app = await startApp(redis.port, { deadline: '1s' })
    const reason = async (): Promise<string | null> =>
      (await app.call('GET', '/readyz')).json.description ?? null
    expect(await reason()).toBeNull()

    await app.client.config('SET', 'min-replicas-to-write', '1')
    expect(await reason()).toMatch(/^Not ready: Redis has too few replicas/)
    await app.client.config('SET', 'min-replicas-to-write', '0')

    await app.client.replicaof('127.0.0.1', '1')
    expect(await reason()).toMatch(/^Not ready: Redis is a read-only replica/)
    await app.client.replicaof('NO', 'ONE')

    await app.client.config('SET', 'maxmemory', '1')
    expect(await reason()).toBeNull()
    await app.client.config('SET', 'maxmemory', '0')

    const allowed = ['~*:{queue:*', '~*:{feed:*', '~*:{catalog:*', '~*:{autocomplete:*', '~*:{cache:*']
    await app.client.call('ACL', 'SETUSER', 'default', 'resetkeys', ...allowed)
    expect(await reason()).toMatch(/lacks the right to write keys of collection/)
    await app.client.call('ACL', 'SETUSER', 'default', 'allkeys')
    expect(await reason()).toBeNull()
  }
  await redis.stop()
})

test('a cluster of several nodes, and one that lacks slots, are reported as such', async () => {
  const cluster = await startCluster()
  {
    await using app = await startApp(cluster.ports[0] ?? 0, { deadline: '1s' })
    const reason = async (): Promise<unknown> => (await app.call('GET', '/readyz')).json.description
    expect(await reason()).toBe(
      'Not ready: Redis is a cluster of several nodes, and the service uses only one: REDIS_URL must name a Redis that has all keys.',
    )

    await app.client.call('CLUSTER', 'FLUSHSLOTS')
    await expect
      .poll(reason)
      .toBe('Not ready: Redis is a cluster that is down: some of its slots are served by no node.')
  }
  await cluster.stop()
})
