import { join } from 'node:path'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compileTree } from '../../tools/contract/compile.ts'
import { ask } from '../servers/ask.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'

const contract = compileTree(join(import.meta.dirname, 'fixtures/good'))
const KEYS = ['app:{demo:a}:notes', 'app:{demo:a}:sequence']
const ARGUMENTS = ['10', '0.5', '', '', '1', 'body', '0']

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
  const rule = contract.structures['demo']?.acl.replaceAll('<namespace>', 'app') ?? ''
  await ask(redis.port, 'ACL', 'SETUSER', 'narrow', 'on', '>secret', ...rule.split(' '))
})
afterAll(() => redis.stop())

type Send = (...command: string[]) => Promise<unknown>

async function withIoredis(use: (send: Send) => Promise<void>): Promise<void> {
  const client = new Redis({ port: redis.port, username: 'narrow', password: 'secret', lazyConnect: true })
  await client.connect()
  try {
    await use((command, ...args) => client.call(command, ...args))
  } finally {
    client.disconnect()
  }
}

async function withNodeRedis(use: (send: Send) => Promise<void>): Promise<void> {
  const client = createClient({ url: redis.url, username: 'narrow', password: 'secret' })
  await client.connect()
  try {
    await use((...command) => client.sendCommand(command))
  } finally {
    client.destroy()
  }
}

const CLIENTS = [
  ['ioredis', withIoredis],
  ['node-redis', withNodeRedis],
] as const

test.each(CLIENTS)(
  'a user with the rule runs the scripts of the structure, through %s',
  async (_, withClient) => {
    const { source = '', sha1 = '' } = contract.operations['demo/take-notes'] ?? {}
    await withClient(async (send) => {
      expect(await send('EVAL', source, '2', ...KEYS, ...ARGUMENTS)).toContain('kept')
      expect(await send('EVALSHA', sha1, '2', ...KEYS, ...ARGUMENTS)).toContain('kept')
      expect(await send('SCRIPT', 'LOAD', source)).toBe(sha1)
      expect(await send('INFO', 'server')).toContain('redis_version')
      expect(await send('WAIT', '0', '1')).toBe(0)
    })
  },
)

test.each(CLIENTS)(
  'foreign keys and commands that no script calls are denied, through %s',
  async (_, withClient) => {
    const { source = '' } = contract.operations['demo/take-notes'] ?? {}
    await withClient(async (send) => {
      const denied = async (...command: string[]) =>
        expect(send(...command)).rejects.toThrow(/NOPERM|can't (access|run)/)
      await denied('EVAL', source, '2', 'app:{other:a}:notes', 'app:{other:a}:sequence', ...ARGUMENTS)
      await denied('EVAL', "return redis.call('HLEN', 'elsewhere')", '0')
      await denied('EVAL', "return redis.call('FLUSHALL')", '0')
      await denied('FLUSHALL')
      await denied('KEYS', '*')
      await denied('CONFIG', 'GET', '*')
      await denied('SCRIPT', 'FLUSH')
      await denied('ACL', 'LIST')
    })
  },
)

test.each(['SUBSCRIBE', 'SSUBSCRIBE'])('only channels of the structure are open to %s', async (command) => {
  await withIoredis(async (send) => {
    await expect(send(command, 'app:{other:a}')).rejects.toThrow('NOPERM')
    expect(await send(command, 'app:{demo:a}')).toBeTruthy()
  })
})
