import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { createClient, RESP_TYPES } from 'redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Reply } from '../../src/driver.ts'
import type { Operation } from '../../src/runtime/calls/operation.ts'
import { compileTree } from '../../tools/contract/compile.ts'
import { generalModule } from '../../tools/contract/emit-lua.ts'
import { structureModule } from '../../tools/contract/emit-typescript.ts'
import { locate } from '../../tools/contract/locate.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'

const ROOT = join(import.meta.dirname, '../..')
const contract = compileTree(join(import.meta.dirname, 'fixtures/good'))

type AnyOperation = Operation<Record<string, unknown>, { readonly status: string }>

let folder: string
let redis: RedisServer
let demo: Record<string, AnyOperation>
let client: ReturnType<typeof connect>

function connect(url: string) {
  return createClient({ url }).withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
}

beforeAll(async () => {
  mkdirSync(join(ROOT, '.perilune'), { recursive: true })
  folder = mkdtempSync(join(ROOT, '.perilune/compiler-'))
  const library = relative(folder, join(ROOT, 'src'))
  writeFileSync(join(folder, 'shared.ts'), generalModule(contract, library))
  for (const structure of ['demo', 'newer']) {
    writeFileSync(join(folder, `${structure}.ts`), structureModule(contract, structure, library))
  }
  demo = await modules('demo')
  redis = await startRedis()
  client = connect(redis.url)
  await client.connect()
})

afterAll(async () => {
  client.destroy()
  await redis.stop()
  rmSync(folder, { recursive: true })
})

async function modules(structure: string): Promise<Record<string, AnyOperation>> {
  const loaded: Record<string, AnyOperation> = await import(join(folder, `${structure}.ts`))
  return loaded
}

async function call(name: string, keys: string[], args: Record<string, unknown>) {
  const operation = demo[name]
  if (!operation) throw new Error(`${name} was not generated`)
  const { source } = operation.script
  const sent = operation.encode(args).map((one) => (typeof one === 'number' ? String(one) : Buffer.from(one)))
  const reply = await client.sendCommand<Reply>(['EVAL', source, String(keys.length), ...keys, ...sent])
  return operation.decode(reply)
}

const NOTES = {
  limit: 10,
  half: 0.3,
  label: 'blue',
  raw: Buffer.from([0xff]),
  quiet: true,
  items: [] as unknown[],
}

test.each([
  [{ late: false, times: 3, loud: true }, 2],
  [{ late: true, times: 3, loud: true }, 3],
  [{ late: false, times: 4, loud: true }, 4],
  [{ late: false, times: 3, loud: false }, 5],
])('a call omits arguments that have a default in the script: %j', async (last, sent) => {
  const given = { early: true, label: 'blue', ...last }

  expect(demo['remind']?.encode(given)).toHaveLength(sent)
  expect(await call('remind', ['notes'], given)).toEqual({ status: 'asked', ...given })
})

test('the generated functions pass the type checker', () => {
  const use = `
import { takeNotes, type TakeNotesAnswer, type TakeNotesArguments } from './demo.ts'
const given: TakeNotesArguments = { limit: 1, half: 0.5, label: '', raw: 'x', quiet: false, items: [{ body: 'b', odd: true }] }
const answer: TakeNotesAnswer = takeNotes.decode(['full', 1])
export const label: string | null = answer.status === 'kept' ? answer.label : String(takeNotes.encode(given))
export const id: bigint | number = answer.status === 'kept' ? answer.bigId : answer.limit
export const bodies: Buffer[] = answer.status === 'kept' ? answer.notes.map((note) => note.body) : []
`
  writeFileSync(join(folder, 'use.ts'), use)
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    files: ['use.ts', 'newer.ts'],
    include: [],
    exclude: [],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))

  const { stdout, status } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], {
    encoding: 'utf8',
  })

  expect(stdout).toBe('')
  expect(status).toBe(0)
})

test('groups, bytes, fractions, 64-bit numbers, nulls and lists survive the round trip to the server', async () => {
  const items = [
    { body: Buffer.from([0, 200]), odd: true },
    { body: 'é', odd: false },
    { body: '', odd: true },
  ]

  const answer = await call('takeNotes', ['{a}:notes', '{a}:sequence'], { ...NOTES, items })

  expect(answer).toEqual({
    status: 'kept',
    nowUs: expect.any(Number),
    bigId: 9007199254740993n,
    half: 0.15,
    label: 'blue',
    notes: [
      { id: 1, size: 3, body: Buffer.from([0xff, 0, 200]) },
      { id: 2, size: 3, body: Buffer.from([0xff, 0xc3, 0xa9]) },
      { id: 3, size: 1, body: Buffer.from([0xff]) },
    ],
    firstIds: [1, 3],
  })
})

test('an empty list and null return unchanged, and another answer has its own word', async () => {
  const none = await call('takeNotes', ['{b}:notes', '{b}:sequence'], { ...NOTES, label: '' })
  const full = await call('takeNotes', ['{b}:notes', '{b}:sequence'], { ...NOTES, limit: 0 })

  expect(none).toMatchObject({ status: 'kept', label: null, notes: [], firstIds: [] })
  expect(full).toEqual({ status: 'full', limit: 0 })
})

test('repeated keys follow the declared ones, and groups of one field are plain values', async () => {
  await client.sendCommand(['HSET', '{c}:a', '7', 'x'])
  await client.sendCommand(['HSET', '{c}:b', '1', 'x', '2', 'y'])

  expect(await call('countBodies', ['{c}:a', '{c}:b', '{c}:none'], { ids: [5, 7] })).toEqual({
    status: 'counted',
    total: 3,
    found: true,
  })
  expect(demo['countBodies']?.parts).toEqual(['main'])
})

test('an answer that the head does not declare is an error', () => {
  expect(() => demo['clear']?.decode(['gone'])).toThrow('the server answered text of 4 characters')
  expect(() => demo['clear']?.decode(null)).toThrow('a list was expected')
})

test('a list that ends inside a record is an error', () => {
  const reply: Reply = ['kept', 1, '2', '0.5', null, [1, 2], []]

  expect(() => demo['takeNotes']?.decode(reply)).toThrow(
    'the server answered nothing where bytes was expected',
  )
})

test('only scripts that answer with bytes request bytes', () => {
  expect(demo['takeNotes']?.script.bytes).toBe(true)
  expect(demo['countBodies']?.script.bytes).toBe(false)
})

test('the source in the module is the built source, whatever characters it contains', async () => {
  const { expire } = await modules('newer')

  expect(expire?.script.source).toBe(contract.operations['newer/expire']?.source)
  expect(await client.sendCommand(['SCRIPT', 'LOAD', expire?.script.source ?? ''])).toEqual(
    Buffer.from(expire?.script.sha1 ?? ''),
  )
})

test('an error raised in a module is reported at the line of the module', async () => {
  await client.sendCommand(['HSET', '{d}:notes', '1', 'no number'])
  const operation = demo['addUp']
  if (!operation) throw new Error('add-up was not generated')

  const failed: unknown = await call('addUp', ['{d}:notes'], { id: 1 }).catch((error: unknown) => error)

  const line = Number(/user_script:(\d+)/.exec(String(failed))?.[1])
  expect(locate(operation.script.lines ?? [], line)).toEqual({ file: 'good/shared/reading.lua', line: 4 })
})
