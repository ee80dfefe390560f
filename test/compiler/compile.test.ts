import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { operationOf, type Contract as VectorContract } from '../../src/testing/vector-contract.ts'
import { compileTree } from '../../tools/contract/compile.ts'
import type { ShippedContract } from '../../tools/contract/contract.ts'
import { scriptsPage, withKeys } from '../../tools/contract/emit-docs.ts'
import { contractJson } from '../../tools/contract/emit-json.ts'
import { locate } from '../../tools/contract/locate.ts'

const GOOD = join(import.meta.dirname, 'fixtures/good')
const contract = compileTree(GOOD, '1.2.3', undefined, { form: 'readable' })

function operation(name: string): (typeof contract.operations)[string] {
  const found = contract.operations[name]
  if (!found) throw new Error(`${name} is missing`)
  return found
}

test('every operation is in the contract, sorted by name', () => {
  expect(Object.keys(contract.operations)).toEqual([
    'demo/add-up',
    'demo/clear',
    'demo/count-bodies',
    'demo/remind',
    'demo/take-notes',
    'demo/tidy',
    'newer/expire',
    'newer/pop',
  ])
  expect(contract.version).toBe('1.2.3')
})

test('the head becomes prose by paragraph, cost, and whether the script writes', () => {
  const { about, cost, reads } = operation('demo/take-notes')

  expect(about).toBe(
    'Keeps notes. Bodies may hold any bytes; `odd` notes are numbered too.\n\nA second paragraph says why.',
  )
  expect([cost, reads, operation('demo/add-up').reads]).toEqual(['O(notes)', false, true])
})

test('keys and arguments are declared with name, part, type and meaning', () => {
  expect(operation('demo/count-bodies').keys).toEqual([
    { name: 'main', part: 'main', type: 'hash', about: 'the first one' },
    { name: 'others', part: 'others', type: 'hash', about: 'more of them', repeated: true },
  ])
  expect(operation('demo/clear').keys[1]?.part).toBe('note-sequence')
  expect(operation('demo/take-notes').arguments.map(({ name, type }) => `${name}:${type}`)).toEqual([
    'limit:integer',
    'half:number',
    'label:text',
    'raw:bytes',
    'quiet:flag',
    'items:repeated',
  ])
  expect(operation('demo/take-notes').arguments.at(-1)?.fields).toEqual([
    { name: 'body', type: 'bytes' },
    { name: 'odd', type: 'flag' },
  ])
})

test('the last arguments may be omitted when the script declares their default', () => {
  const defaults = operation('demo/remind').arguments.map((one) => [one.name, one.default])

  expect(defaults).toEqual([
    ['early', undefined],
    ['label', undefined],
    ['late', false],
    ['times', 3],
    ['loud', true],
  ])
})

test('answers hold scalars, values that may be null, and lists of records', () => {
  expect(operation('demo/take-notes').answers).toEqual({
    kept: [
      { name: 'now_us', type: 'integer' },
      { name: 'big_id', type: 'big' },
      { name: 'half', type: 'number' },
      { name: 'label', type: 'text', optional: true },
      {
        name: 'notes',
        type: 'list',
        fields: [
          { name: 'id', type: 'integer' },
          { name: 'size', type: 'integer' },
          { name: 'body', type: 'bytes' },
        ],
      },
      { name: 'first_ids', type: 'list', fields: [{ name: 'id', type: 'integer' }] },
    ],
    full: [{ name: 'limit', type: 'integer' }],
  })
})

test('a definition occurs once in a script, before its users, in the order of their dependencies', () => {
  const { source } = operation('demo/take-notes')

  expect(source.split('local function whole').length).toBe(2)
  expect(source.indexOf('local function whole')).toBeLessThan(source.indexOf('local function keep_note'))
  expect(source).not.toContain('@include')
})

test('the clock occurs in a script exactly as in the contract', () => {
  expect(contract.clock).toContain("redis.call('TIME')")
  const shipped = compileTree(GOOD, '1.2.3')
  for (const { clock, operations } of [contract, shipped])
    expect(operations['demo/take-notes']?.source.split(clock ?? '?').length).toBe(2)
})

test('a key that is only stored in a table of keys needs no local', () => {
  const { source } = operation('demo/tidy')

  expect(source).toContain('local keys = {\nnotes = KEYS[1],\nrecent = KEYS[2],\n}')
  expect(source).not.toContain('local notes')
})

test('every line of a built script maps to its line of the source', () => {
  // In demo/tidy keys have moved into a table.
  const operations = Object.entries(contract.operations).filter(([name]) => name !== 'demo/tidy')
  for (const [, { source, lines }] of operations) {
    for (const [index, text] of source.trimEnd().split('\n').entries()) {
      const { file, line } = locate(lines, index + 1)
      const whole = readFileSync(join(GOOD, '..', file), 'utf8').split('\n')[line - 1]
      if (file.endsWith('/keys.lua')) {
        expect(`local ${whole?.replace(/ = .*/, '').trim()} = KEYS`).toBe(text.replace(/\[\d\]$/, ''))
        continue
      }
      // Without its surroundings; a constant and a key are inlined where they are read.
      const read = whole
        ?.replace(/ -- .*$/, '')
        .replaceAll(/keys\./g, '')
        .trim()
        .replace(/ big,/, " '9007199254740993',")
      expect(`${file}:${line} ${read}`).toBe(`${file}:${line} ${text}`)
    }
  }
})

test('the minimum version follows from commands and options, except for optional commands', () => {
  expect(operation('demo/take-notes').optional).toEqual([
    { command: 'SPUBLISH', reason: 'only where the server knows sharded channels' },
  ])
  expect(contract.structures['demo']?.since).toBe('6.2.0')
  expect(operation('newer/expire').since).toBe('7.0.0')
  expect(operation('newer/pop').since).toBe('7.0.0')
  expect(contract.structures['newer']?.since).toBe('7.0.0')
})

test('a structure lists the commands that its scripts call', () => {
  expect(contract.structures['newer']?.commands).toEqual(['pexpire', 'xread', 'zmpop'])
  expect(contract.structures['demo']?.commands).toContain('spublish')
})

test('the JSON text holds the whole contract', () => {
  const parsed: ShippedContract & VectorContract = JSON.parse(contractJson(compileTree(GOOD, '1.2.3')))

  const { operations, ...others } = compileTree(GOOD, '1.2.3')
  expect(parsed).toMatchObject({ format: 2, ...others })
  expect(Object.keys(parsed.operations)).toEqual(Object.keys(operations))
  for (const [name, { source, lines: _lines, ...described }] of Object.entries(operations)) {
    expect(parsed.operations[name]).toMatchObject(described)
    expect(operationOf(parsed, name).source).toBe(source)
  }
  const lines = parsed.texts.flatMap(({ file, numbers, lines: all }) =>
    all.map((line, at) => `${file}:${numbers[at]} ${line}`),
  )
  expect(new Set(lines).size).toBe(lines.length)
})

test('a script whose pieces do not match its hash is rejected', () => {
  const parsed: VectorContract = JSON.parse(
    contractJson(compileTree(GOOD, '1.2.3')).replaceAll('redis.call', 'redis.pcall'),
  )

  expect(() => operationOf(parsed, 'demo/take-notes')).toThrow(
    'the pieces of demo/take-notes do not match its sha1',
  )
})

test('a page gets the table of keys between its markers and keeps everything else', () => {
  const page = ['before', '<!-- generated:keys -->', 'old', '<!-- /generated:keys -->', 'after'].join('\n')

  const once = withKeys(page, contract, 'demo')

  expect(once).toMatch(/^before\n<!-- generated:keys -->\n\n\| part /)
  expect(once).not.toContain('\nold\n')
  expect(once).toContain('| `note-sequence` ')
  expect(once).toMatch(/\nafter$/)
  expect(withKeys(once, contract, 'demo')).toBe(once)
})

test('the page of scripts has each operation with its arguments, cost and answers', () => {
  const page = scriptsPage(contract, 'demo')

  expect(page).toContain('## `demo/take-notes`\n\nKeeps notes. It writes; cost: O(notes).\n')
  expect(page).toMatch(/\n- `\w+` \(\w+\): /)
  expect(page).toMatch(/\nAnswers: `/)
})

test('a script leaves out functions without a caller, and the functions that only those call', () => {
  const { source, lines } = operation('demo/clear')

  expect(source).not.toMatch(/never_called|drop_again|has no caller/)
  const at = source.split('\n').indexOf('local function drop(key)')
  expect(locate(lines, at + 1)).toEqual({ file: 'good/shared/drop.lua', line: 10 })
})
