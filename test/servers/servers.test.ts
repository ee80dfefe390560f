import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { appendOnlyFile, CUT_TRANSACTION } from './append-only.ts'
import { ask, askFields, until } from './ask.ts'
import { type RedisCluster, startCluster } from './cluster.ts'
import { freePort } from './ports.ts'
import { type RedisOptions, type RedisServer, startRedis } from './redis.ts'
import { startSentinels } from './sentinels.ts'

async function setup(options: RedisOptions = {}): Promise<RedisServer> {
  const redis = await startRedis(options)
  onTestFinished(() => redis.stop())
  return redis
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('a server that stopped leaves no process and no directory', async () => {
  const redis = await setup()
  const { pid, dir } = redis
  expect(await ask(redis.port, 'PING')).toBe('PONG')

  await redis.stop()

  expect(isAlive(pid)).toBe(false)
  expect(existsSync(dir)).toBe(false)
})

test('a server with an append-only file keeps its data across kill -9 and a restart', async () => {
  const redis = await setup({ aof: 'always' })
  const { port, pid } = redis
  await ask(port, 'SET', 'kept', 'yes')

  await redis.kill()
  await redis.restart()

  expect(await ask(port, 'GET', 'kept')).toBe('yes')
  expect(redis.pid).not.toBe(pid)
})

test('a transaction that kill -9 has cut is missing, even after another restart', async () => {
  const redis = await setup({ aof: 'always' })
  const { port, dir } = redis
  await ask(port, 'RPUSH', 'list', 'first', 'second')
  await redis.kill()
  appendFileSync(appendOnlyFile(dir), CUT_TRANSACTION)

  await redis.restart()
  await ask(port, 'EVAL', "redis.call('SET', 'one', 1) redis.call('SET', 'two', 2)", 0)
  await redis.kill()
  await redis.restart()

  expect(await ask(port, 'LRANGE', 'list', 0, -1)).toEqual(['first', 'second'])
  expect(await ask(port, 'MGET', 'one', 'two', 'x')).toEqual(['1', '2', null])
})

test('a server without one loses its data', async () => {
  const redis = await setup()
  await ask(redis.port, 'SET', 'kept', 'yes')

  await redis.restart()

  expect(await ask(redis.port, 'GET', 'kept')).toBeNull()
})

test('a directory passed by the caller stays', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'perilune-given-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const redis = await setup({ dir })

  await redis.stop()

  expect(existsSync(dir)).toBe(true)
})

test('a paused server can be stopped', async () => {
  const redis = await setup()
  const { pid } = redis
  process.kill(pid, 'SIGSTOP')

  await redis.stop()

  expect(isAlive(pid)).toBe(false)
})

test('a server that cannot start reports why', async () => {
  await expect(startRedis({ args: ['--no-such-option', '1'] })).rejects.toThrow('redis-server did not start')
})

test('servers and directories are removed when the process that started them is killed', async () => {
  const program = `import('${new URL('redis.ts', import.meta.url).href}').then(async ({ startRedis }) => {
    const { pid, dir } = await startRedis()
    console.log(pid + ' ' + dir)
    setInterval(() => {}, 1000)
  })`
  const starter = spawn(process.execPath, ['--import', 'tsx', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(starter.stdout, 'data')
  const [pid = '', dir = ''] = String(line).trim().split(' ')

  starter.kill('SIGKILL')

  await until('all is gone', async () => !existsSync(dir) && !(await stillRuns(pid)))
})

/** A zombie that was not reaped still has a pid, so its state decides. */
async function stillRuns(pid: string): Promise<boolean> {
  const ps = spawn('ps', ['-o', 'stat=', '-p', pid], { stdio: ['ignore', 'pipe', 'ignore'] })
  let state = ''
  ps.stdout.on('data', (data) => (state += String(data)))
  await once(ps, 'close')
  return state !== '' && !state.startsWith('Z')
}

async function setupCluster(replicasPerMaster = 0): Promise<RedisCluster> {
  const cluster = await startCluster({ masters: 3, replicasPerMaster })
  onTestFinished(() => cluster.stop())
  return cluster
}

test('a slot moves with its keys, and every node learns of it', async () => {
  const cluster = await setupCluster()
  const slot = await cluster.slotOf('{room}:a')
  const from = await cluster.ownerOf(slot)
  const [to = 0, other = 0] = cluster.ports.filter((port) => port !== from)
  await ask(from, 'SET', '{room}:a', '1')
  await ask(from, 'SET', '{room}:b', '2')

  await cluster.moveSlot(slot, from, to)

  expect(await ask(to, 'MGET', '{room}:a', '{room}:b')).toEqual(['1', '2'])
  for (const port of [from, other]) {
    await expect(ask(port, 'GET', '{room}:a')).rejects.toThrow(`MOVED ${slot} 127.0.0.1:${to}`)
  }
})

test('while half of a slot has moved, calls that need both halves get TRYAGAIN', async () => {
  const cluster = await setupCluster()
  const slot = await cluster.slotOf('{room}:a')
  const from = await cluster.ownerOf(slot)
  const to = cluster.ports.find((port) => port !== from) ?? 0
  await ask(from, 'MSET', '{room}:a', '1', '{room}:b', '2')

  await cluster.beginMove(slot, from, to)
  expect(await cluster.moveKeys(slot, from, to, 1)).toBe(1)

  await expect(ask(from, 'MGET', '{room}:a', '{room}:b')).rejects.toThrow('TRYAGAIN')
  while ((await cluster.moveKeys(slot, from, to)) > 0);
  await cluster.finishMove(slot, from, to)
  expect(await ask(to, 'MGET', '{room}:a', '{room}:b')).toEqual(['1', '2'])
})

test('a cluster can have replicas', async () => {
  const cluster = await setupCluster(1)

  const roles = await Promise.all(
    cluster.ports.map(async (port) => (await askFields(port, 'INFO', 'replication')).get('role')),
  )

  expect(roles).toEqual(['master', 'master', 'master', 'slave', 'slave', 'slave'])
})

test('sentinels promote a replica when the primary is killed', async () => {
  const group = await startSentinels()
  onTestFinished(() => group.stop())
  const old = group.primary
  await ask(old.port, 'SET', 'kept', 'yes')
  await ask(old.port, 'WAIT', 1, 5000)

  await group.failover()

  expect(group.primary.port).not.toBe(old.port)
  expect(await ask(group.primary.port, 'GET', 'kept')).toBe('yes')
})

test('the shared servers of the run are available', async () => {
  expect(await ask(inject('redisPort'), 'PING')).toBe('PONG')
  expect(inject('clusterPorts')).toHaveLength(3)
  expect(inject('sentinels')).toHaveLength(3)
  const [sentinel = 0] = inject('sentinels')
  expect(await ask(sentinel, 'SENTINEL', 'CKQUORUM', inject('sentinelMaster'))).toContain('OK 3 usable')
})

test('a server does not start on a port that another program has', async () => {
  const mute = createServer(() => undefined)
  const port = await freePort()
  await new Promise<void>((resolve) => mute.listen(port, '127.0.0.1', resolve))
  onTestFinished(() => void mute.close())
  const other = await setup()

  await expect(startRedis({ port })).rejects.toThrow('Address already in use')
  await expect(startRedis({ port: other.port })).rejects.toThrow('Address already in use')
})
