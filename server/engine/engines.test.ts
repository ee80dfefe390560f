import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ask, askFields, until } from '../../test/servers/ask.ts'
import { startRedis } from '../../test/servers/redis.ts'
import { EngineError } from './engine.ts'
import { external, listener, portOf, REAL_SERVER, setting, setup, setupWithRedis } from './engine-fixture.ts'

describe('a server named by REDIS_URL', () => {
  test('is used before anything else, and not stopped', async () => {
    const redis = await external()
    const machine = setupWithRedis()

    const engine = await machine.start({ REDIS_URL: redis.url })
    await engine.stop()

    expect(engine).toMatchObject({
      kind: 'external',
      url: redis.url,
      description: `Redis at 127.0.0.1:${redis.port}`,
    })
    expect(await ask(redis.port, 'PING')).toBe('PONG')
  })

  test.each([
    ['always', /^single server, append-only file, fsync on every write/],
    ['everysec', /^single server, append-only file, fsync every second: .* may lose the last 1–2 seconds$/],
    ['no', /^single server, append-only file, fsync left to the operating system/],
  ] as const)('with appendfsync %s is described as what it is', async (aof, words) => {
    const redis = await external({ aof })

    const engine = await setup().start({ REDIS_URL: redis.url })

    expect(engine.durability).toMatch(words)
    expect(engine.keepsData).toBe(true)
    expect(engine.warnings).toEqual([])
  })

  test('without persistence is described as such', async () => {
    const redis = await external()

    const engine = await setup().start({ REDIS_URL: redis.url })

    expect(engine.durability).toBe('single server, nothing on disk: a restart loses everything')
    expect(engine.keepsData).toBe(false)
  })

  test('with snapshots only may lose writes after the last one', async () => {
    const redis = await external({ args: ['--save', '60 1'] })

    const engine = await setup().start({ REDIS_URL: redis.url })

    expect(engine.durability).toContain('only snapshots on disk')
    expect(engine.keepsData).toBe(true)
  })

  test('that evicts keys causes a warning', async () => {
    const redis = await external({ args: ['--maxmemory-policy', 'allkeys-lru'] })

    const engine = await setup().start({ REDIS_URL: redis.url })

    expect(engine.warnings).toEqual([expect.stringContaining('maxmemory-policy is allkeys-lru')])
  })

  test('with replicas is described as one that fails over, and its replica causes a warning', async () => {
    const [primary, replica] = [await external(), await external()]
    await ask(replica.port, 'REPLICAOF', '127.0.0.1', primary.port)
    await until('the replica is attached', async () => {
      return (await askFields(primary.port, 'INFO', 'replication')).get('connected_slaves') === '1'
    })

    const engine = await setup().start({ REDIS_URL: primary.url })
    const wrong = await setup().start({ REDIS_URL: replica.url })

    expect(engine.durability).toMatch(/^primary with 1 replica/)
    expect(wrong.warnings).toEqual([expect.stringContaining('refuses writes')])
  })

  test('whose user may not read settings is described as unknown', async () => {
    const redis = await external({
      args: ['--user', 'app', 'on', '>secret', '~*', '+@all', '-config', '-info'],
    })

    const engine = await setup().start({ REDIS_URL: `redis://app:secret@127.0.0.1:${redis.port}` })

    expect(engine.durability).toBe('topology unknown, durability unknown (this user may not ask)')
    expect(engine.warnings).toEqual([expect.stringContaining('maxmemory-policy is unknown')])
    expect(engine.description).not.toContain('secret')
  })

  test('that does not answer is reported in one clear line', async () => {
    const start = setup().start({ REDIS_URL: 'redis://:secret@127.0.0.1:1' })

    await expect(start).rejects.toThrow(
      new EngineError('cannot use the Redis at 127.0.0.1:1: nothing listens on that port'),
    )
  })

  test.each([
    [':wrong@', 'wrong user name or password'],
    ['', 'it asks for a password (redis://:password@host:port)'],
  ])(
    'with the password "%s" in place of the right one is reported in one clear line without it',
    async (password, words) => {
      const { port } = await external({ args: ['--requirepass', 'right'] })

      const start = setup().start({ REDIS_URL: `redis://${password}127.0.0.1:${port}` })

      await expect(start).rejects.toThrow(
        new EngineError(`cannot use the Redis at 127.0.0.1:${port}: ${words}`),
      )
    },
  )

  test('that is not Redis is reported in one clear line', async () => {
    const { port } = await listener((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))

    const start = setup().start({ REDIS_URL: `redis://127.0.0.1:${port}` })

    await expect(start).rejects.toThrow(/: the server there does not answer like Redis \(.+\)$/)
  })

  test('that does not answer yet is waited for, which is reported without the password', async () => {
    const silent: Socket[] = []
    const { port } = await listener((socket) => silent.push(socket))
    const machine = setup()

    const start = machine.start({ REDIS_URL: `redis://:secret@127.0.0.1:${port}` })
    await until('the wait is reported', async () => machine.said.length > 0)
    for (const socket of silent) socket.destroy()

    await expect(start).rejects.toThrow(EngineError)
    expect(machine.said).toEqual([`waiting for the Redis at 127.0.0.1:${port}`])
  })

  test('that is not a URL of Redis is reported in one clear line without the URL', async () => {
    const start = setup().start({ REDIS_URL: 'http://:secret@host' })

    await expect(start).rejects.toThrow(
      new EngineError('REDIS_URL must look like redis://host:port or rediss://user:password@host:port'),
    )
  })
})

describe('a private server from PATH', () => {
  test('keeps an append-only file, never evicts, and listens on loopback only', async () => {
    const engine = await setupWithRedis().start()

    expect(engine).toMatchObject({ kind: 'spawned', keepsData: true, warnings: [] })
    expect(engine.durability).toContain('fsync every second')
    expect(await setting(engine, 'maxmemory-policy')).toContain('noeviction')
    expect(await setting(engine, 'lazyfree-lazy-expire')).toContain('yes')
    expect(await setting(engine, 'bind')).toContain('"127.0.0.1"')
  })

  test('is shut down in order by stop, and the next one has its data', async () => {
    const machine = setupWithRedis()
    const first = await machine.start()
    await ask(portOf(first), 'SET', 'kept', 'yes')

    await first.stop()
    await expect(ask(portOf(first), 'PING')).rejects.toThrow()
    expect(readFileSync(join(machine.directory, 'redis.log'), 'utf8')).toContain('ready to exit')
    const second = await machine.start()

    expect(await ask(portOf(second), 'GET', 'kept')).toBe('yes')
    expect(machine.said).toEqual([])
  })

  test('can fsync every write', async () => {
    const engine = await setupWithRedis().start({ PERILUNE_FSYNC: 'always' })

    expect(engine.durability).toContain('fsync on every write')
  })

  test('rejects a misspelt fsync policy', async () => {
    await expect(setupWithRedis().start({ PERILUNE_FSYNC: 'sometimes' })).rejects.toThrow(EngineError)
  })

  test('leads its own process group, so that Ctrl-C in the terminal does not reach it', async () => {
    const engine = await setupWithRedis().start()
    const pid = Number((await askFields(portOf(engine), 'INFO', 'server')).get('process_id'))

    expect(() => process.kill(-pid, 0)).not.toThrow()
  })

  test('may be a valkey-server', async () => {
    const machine = setup()
    machine.program('valkey-server', `exec ${REAL_SERVER} "$@"`)

    expect((await machine.start()).description).toContain('private valkey-server')
  })

  test('that cannot start is reported in one clear line', async () => {
    const machine = setup()
    machine.program('redis-server', 'exit 3')

    await expect(machine.start()).rejects.toThrow(/^redis-server ended at once: it wrote no log/)
  })

  test('rejects corrupt data and names the log', async () => {
    const machine = setupWithRedis()
    const first = await machine.start()
    await first.stop()
    const files = join(machine.directory, 'redis', 'appendonlydir')
    const target = existsSync(files)
      ? join(files, 'appendonly.aof.manifest')
      : join(files, '..', 'appendonly.aof')
    writeFileSync(target, 'not what Redis wrote\n')

    await expect(machine.start()).rejects.toThrow(/^redis-server ended at once: .*redis\.log\)$/)
  })

  test('ignores a foreign server on the noted port', async () => {
    const stranger = await startRedis()
    onTestFinished(() => stranger.stop())
    const machine = setupWithRedis()
    mkdirSync(machine.directory)
    writeFileSync(
      join(machine.directory, 'redis.json'),
      JSON.stringify({ pid: stranger.pid, port: stranger.port }),
    )

    const engine = await machine.start()

    expect(portOf(engine)).not.toBe(stranger.port)
  })
})

describe('with nothing else', () => {
  test('the embedded engine runs scripts and says that it keeps no data', async () => {
    const engine = await setup().start()

    expect(engine).toMatchObject({
      kind: 'embedded',
      description: 'in-memory demo engine: nothing is kept',
      keepsData: false,
    })
    expect(await ask(portOf(engine), 'EVAL', "return redis.call('INCR', KEYS[1])", 1, 'n')).toBe(1)
  })

  test('the embedded engine cannot be reached from another machine', async () => {
    const engine = await setup().start()
    const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
    const outside = addresses.filter(({ internal, family }) => !internal && family === 'IPv4')

    for (const { address } of outside) {
      const socket = connect(portOf(engine), address)
      await expect(once(socket, 'connect')).rejects.toThrow('ECONNREFUSED')
    }
  })

  test('the embedded engine ends with stop', async () => {
    const engine = await setup().start()
    expect(await ask(portOf(engine), 'PING')).toBe('PONG')

    await engine.stop()

    await expect(ask(portOf(engine), 'PING')).rejects.toThrow()
  })

  test('and no demo wanted, one line names the remedy', async () => {
    const start = setup().start({ PERILUNE_DEMO: 'never' })

    await expect(start).rejects.toThrow(/^no Redis found: install one \(apt-get install redis-server/)
  })
})
