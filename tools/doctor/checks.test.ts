// Each check that no scene shows red is red here once.

import { readFileSync } from 'node:fs'
import { createServer, connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import { ask, askFields } from '../../test/servers/ask.ts'
import { filesIn } from '../measure/source-files.ts'
import { ofEngine } from './checks/version.ts'
import { holesIn } from './checks/topology.ts'
import { ANY_MACHINE, examineAt, server } from './fixture.ts'
import { MAIN_KEYS } from './layouts.ts'
import { commandsIn, unknownCommands } from './rights.ts'

test.each([
  ['Redis', '6.0.16', 'fail'],
  ['Redis', '6.2.19', 'warn'],
  ['Redis', '6.2.20', 'ok'],
  ['Redis', '7.0.15', 'warn'],
  ['Redis', '7.2.11', 'ok'],
  ['Redis', '8.2.1', 'warn'],
  ['Redis', '8.4.0', 'ok'],
  ['Valkey', '8.0.5', 'warn'],
  ['Valkey', '8.1.4', 'ok'],
  ['Valkey', '9.1.2', 'ok'],
  ['Dragonfly', '1.30.0', 'warn'],
])('version: %s %s is %s', (name, version, state) => {
  expect(ofEngine({ name, version, supported: true }).state).toBe(state)
})

test('version: what needs care is said, and nothing must be mended', () => {
  expect(ofEngine({ name: 'Valkey', version: '9.1.2', supported: true })).toMatchObject({
    mend: null,
    why: expect.stringContaining('Do not run valkey-check-aof'),
  })
})

test('topology: slots without a node are found', () => {
  expect(holesIn([[0, 16_383]])).toEqual([])
  expect(
    holesIn([
      [10, 99],
      [101, 16_000],
    ]),
  ).toEqual([
    [0, 9],
    [100, 100],
    [16_001, 16_383],
  ])
})

test('memory: a server that is nearly full fails', async () => {
  const { port, url } = await server()
  const used = (await askFields(port, 'INFO', 'memory')).get('used_memory') ?? ''
  await ask(port, 'CONFIG', 'SET', 'maxmemory', used)

  expect((await examineAt(url, ...ANY_MACHINE)).notOk).toMatchObject({ memory: 'fail' })
})

test('scripts: a server without SCRIPT fails', async () => {
  const { url } = await server({ aof: 'everysec', config: 'rename-command SCRIPT ""\n' })

  const { of } = await examineAt(url, ...ANY_MACHINE)

  expect(of('scripts').state).toBe('fail')
  expect(of('scripts').why).toContain('rejects the script')
})

test('replication: a server that demands a replica which is not there fails', async () => {
  const { url } = await server({ aof: 'everysec', args: ['--min-replicas-to-write', '1'] })

  const { notOk, of } = await examineAt(url, ...ANY_MACHINE)

  expect(notOk).toMatchObject({ replication: 'fail', writes: 'fail' })
  expect(of('writes').why).toContain('fewer replicas')
})

test('latency: a server that is far away is a warning', async () => {
  const { port } = await server()
  const far = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    client.on('data', (data) => setTimeout(() => upstream.write(data), 40))
    upstream.pipe(client)
    client.on('close', () => upstream.destroy()).on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void far.close())
  await new Promise((resolve) => far.once('listening', resolve))

  const { of } = await examineAt(`redis://127.0.0.1:${(far.address() as AddressInfo).port}`)

  expect(of('latency').state).toBe('warn')
  expect(of('latency').why).toMatch(/A round trip takes \d+ ms/)
})

test('pubsub: a user without channels is a warning', async () => {
  const { port } = await server()
  await ask(port, 'ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '+@all', 'resetchannels')

  const { notOk } = await examineAt(`redis://app:secret@127.0.0.1:${port}`, ...ANY_MACHINE)

  expect(notOk).toEqual({ permissions: 'warn', pubsub: 'warn' })
})

test('connections: an idle timeout is a warning, and a server without room a failure', async () => {
  const idle = await server({ aof: 'everysec', args: ['--timeout', '60'] })
  const small = await server({ aof: 'everysec', args: ['--maxclients', '4'] })
  const clients = [1, 2, 3].map(() => new Redis(small.port))
  onTestFinished(() => clients.forEach((client) => client.disconnect()))
  await Promise.all(clients.map((client) => client.ping()))

  expect((await examineAt(idle.url, ...ANY_MACHINE)).notOk).toEqual({ connections: 'warn' })
  expect((await examineAt(small.url, '--structures', 'rate-limit')).of('connections').state).toBe('fail')
})

test('slow-log: a slow call of ours is a warning, one of others is not', async () => {
  const { port, url } = await server({ aof: 'everysec', args: ['--slowlog-log-slower-than', '20000'] })
  const slow = `local begun = redis.call('TIME')
repeat local now = redis.call('TIME') until (now[1] - begun[1]) * 1000000 + now[2] - begun[2] > 20000`
  await ask(port, 'EVAL', slow, 1, 'other:key')
  const before = await examineAt(url, ...ANY_MACHINE)
  await ask(port, 'EVAL', slow, 1, 'perilune:{queue:mails}:meta')
  const after = await examineAt(url, ...ANY_MACHINE)

  expect(before.notOk).toEqual({})
  expect(after.notOk).toEqual({ 'slow-log': 'warn' })
})

test('layouts: a unit that this version does not read is a warning', async () => {
  const { port, url } = await server()
  await ask(port, 'HSET', 'perilune:{queue:mails}:meta', 'layout', '9')
  await ask(port, 'SET', 'perilune:{lock:deploy}:state', '0 - 1', 'EX', 100)

  const { notOk, of } = await examineAt(url, ...ANY_MACHINE)

  expect(notOk).toEqual({ layouts: 'warn' })
  expect(of('layouts').why).toContain('2 units')
  expect(of('layouts').details['layouts']).toEqual(expect.arrayContaining(['queue 9', 'lock 0']))
})

test('expiry: a lock that never expires is a warning', async () => {
  const { port, url } = await server()
  await ask(port, 'SET', 'perilune:{lock:deploy}:state', '1 - 0 0 0 0  ')

  const { notOk, of } = await examineAt(url, ...ANY_MACHINE)

  expect(notOk).toEqual({ expiry: 'warn' })
  expect(of('expiry').why).toBe('1 key should expire and never will: lock deploy.')
})

test('what the library itself writes is fine, and the biggest units are named', async () => {
  const { port, url } = await server()
  const client = new Redis(port)
  const redis = perilune(ioredis(client))
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  await redis.lock('deploy').run(async () => {})
  await redis.semaphore('renders', { limit: 2 }).run(async () => {})
  await redis.once('orders').run('17', async () => 'done')
  await redis.rateLimit('logins', { limit: 5, window: '1m' }).take('ada')
  await redis.cache('prices', { ttl: '1m' }).get('p-17', async () => 1)
  await redis.queue('mails').enqueue('mail', { text: 'x'.repeat(5000) })
  await redis.feed('room:7').append('hello')
  await redis.collection('friends', { kind: 'set' }).replace(['ada'])
  await redis.autocomplete('cities').add('Reykjavík')

  const { notOk, of } = await examineAt(url, ...ANY_MACHINE)
  const bounded = await examineAt(url, ...ANY_MACHINE, '--scan', '1')

  expect(notOk).toEqual({})
  expect(of('biggest').why).toMatch(/The biggest: .*queue mails \d/)
  expect(JSON.stringify(of('biggest').details)).toContain('feed room:7')
  expect(bounded.of('biggest').why).toContain('looked at about 1 keys')
})

test('every command of the contract has an example that the doctor may ask about', () => {
  const commands = Object.values(contract.structures).flatMap(({ acl }) => commandsIn(acl))

  expect(unknownCommands(commands)).toEqual([])
})

test('the layouts are those of the scripts', () => {
  const root = join(import.meta.dirname, '../..')
  const texts = filesIn(root, 'lua/shared', '.lua').map((path) => readFileSync(join(root, path), 'utf8'))
  const written = texts.flatMap((text) => [
    ...text.matchAll(/^local (\w*_?LAYOUT(?:, \w+_LAYOUT)*) = (.*)$/gm),
  ])
  const layouts = written.flatMap(([, , values = '']) => values.match(/\d+/g)?.join(',') ?? []).toSorted()
  const known = Object.values(MAIN_KEYS).flatMap((mains) => mains.map((main) => main.layouts.join(',')))

  expect(layouts).toEqual(known.toSorted())
})
