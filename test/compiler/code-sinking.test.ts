// Functions and fixed tables move to the innermost block that uses them; whatever moves, the script does the same.

import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { sunkLines } from '../../tools/contract/code-sinking.ts'
import { programs } from './odd-programs.ts'
import { ANSWER, sent, texts } from './sent-fixture.ts'

const sunk = (...text: string[]): string[] => sunkLines(text).map((at) => text[at] ?? '')

test('a function moves with its comments before the first statement of the block that contains all its uses', () => {
  const moved = ['-- Says it.', 'local function say(text)', "  redis.call('PUBLISH', 'all', text)", 'end']

  expect(
    sunk(...moved, '', 'if ARGV[1] then', '  local text = ARGV[2]', '  say(text)', '  say(ARGV[1])', 'end'),
  ).toEqual(['if ARGV[1] then', '  local text = ARGV[2]', ...moved, '  say(text)', '  say(ARGV[1])', 'end'])
})

test('code that only a function which runs once uses moves into it, in the order of the text', () => {
  const text = [
    "local LIST = { 'a', 'b', ARGV[1] }",
    'local function first()',
    '  return LIST[1]',
    'end',
    'local function second()',
    '  return first() .. LIST[2]',
    'end',
    'local function third()',
    '  return second()',
    'end',
    'return third()',
  ]

  expect(sunk(...text)).toEqual([
    'local function third()',
    'local function second()',
    "local LIST = { 'a', 'b', ARGV[1] }",
    ...text.slice(1, 4),
    ...text.slice(5, 7),
    ...text.slice(8),
  ])
})

test('code moves into a function that pcall runs where it stands, and into those that this one calls', () => {
  const [inner, outer] = [
    ['local function inner()', '  return 1', 'end'],
    ['local function outer()', '  return inner()', 'end'],
  ]
  const call = ['return pcall(function()', '  return outer()', 'end)']

  expect(sunk(...inner, ...outer, ...call)).toEqual([
    call[0],
    outer[0],
    ...inner,
    ...outer.slice(1),
    ...call.slice(1),
  ])
})

describe('stays', () => {
  const inner = ['local function inner()', '  return 1', 'end']
  const cases: Record<string, string[]> = {
    'what a loop uses': ['for _ = 1, 3 do', '  inner()', 'end'],
    'what a function uses that is called twice': [
      'local function outer()',
      '  inner()',
      'end',
      'outer()',
      'outer()',
    ],
    'what a function uses that calls itself': [
      'local function outer(n)',
      '  inner()',
      '  return n > 0 and outer(n - 1)',
      'end',
      'outer(3)',
    ],
    'what a function uses that is handed on': ['local function outer()', '  inner()', 'end', 'pcall(outer)'],
    'what a function without a name uses that pcall runs in a loop': [
      'for _ = 1, 3 do',
      '  pcall(function()',
      '    inner()',
      '  end)',
      'end',
    ],
    'a function that two branches use as a value': [
      'local names = {}',
      'if ARGV[1] then',
      "  names[inner] = 'a'",
      'end',
      'if ARGV[2] then',
      '  return names[inner]',
      'end',
    ],
    'what a function without a name uses that is handed on': [
      'local function outer(fn)',
      '  fn()',
      '  fn()',
      'end',
      'outer(function()',
      '  inner()',
      'end)',
    ],
    'what a function uses that a loop calls before each round': [
      'local function outer()',
      '  return inner()',
      'end',
      'while outer() do',
      'end',
    ],
    'what a function uses that a loop calls behind each round': [
      'local function outer()',
      '  return inner()',
      'end',
      'repeat',
      'until outer()',
    ],
    'what a function uses behind a condition that a loop calls': [
      'local function outer(n)',
      '  if n > 2 then',
      '    inner()',
      '  end',
      'end',
      'for n = 1, 3 do',
      '  outer(n)',
      'end',
    ],
    'what all branches use': ['if ARGV[1] then', '  inner()', 'else', '  inner()', 'end'],
  }
  test.each(Object.entries(cases))('%s', (_, uses) => {
    expect(sunk(...inner, ...uses)).toEqual([...inner, ...uses])
  })

  test('code that follows a comment above a function', () => {
    const text = ['if ARGV[1] then', '  inner()', 'end']
    const above = '--[[ how many ]] local count = 1'
    expect(sunk(above, ...inner, ...text)).toEqual([above, text[0], ...inner, ...text.slice(1)])
  })

  test('code that would read the function it would move into, because an earlier one has the same name', () => {
    const text = [
      'local name = tostring(ARGV[1])',
      'local function read()',
      '  return name',
      'end',
      'local function name()',
      '  return read()',
      'end return name()',
    ]
    expect(sunk(...text)).toEqual(text)
  })

  test('code that would read another local of the same name', () => {
    const text = [
      'local name = 1',
      'local function read()',
      '  return name',
      'end',
      'if ARGV[1] then',
      '  local name = 2',
      '  return read() + name',
      'end',
    ]
    expect(sunk(...text)).toEqual(text)
  })

  test('a table with changing content', () => {
    const text = [
      'local count = 1',
      'local list = { count }',
      'count = 2',
      'if ARGV[1] then',
      '  return list[1]',
      'end',
    ]
    expect(sunk(...text)).toEqual(text)
  })

  test.each(['ARGV[1] = 2', 'local list = ARGV', 'table.sort(ARGV)'])(
    'a table of inputs next to %s',
    (change) => {
      const text = ['local list = { ARGV[1] }', change, 'if ARGV[2] then', '  return list[1]', 'end']
      expect(sunk(...text)).toEqual(text)
    },
  )
})

describe('a function that few calls need', () => {
  const inner = ['local function inner()', '  return 1', 'end']

  test('is placed in each of the branches that use it', () => {
    const text = ['if ARGV[1] then', '  inner()', 'elseif ARGV[2] then', '  inner()', 'end']
    const [first, use, second, again, end] = text

    expect(sunk(...inner, ...text)).toEqual([first, ...inner, use, second, ...inner, again, end])
  })

  test('is placed after the condition in a function with several callers, with its dependencies', () => {
    const needed = ['local function needed()', '  return 2', 'end']
    const own = ['local function inner()', '  return needed()', 'end']
    const outer = ['local function outer(n)', '  if n > 2 then', '    inner()', '  end', 'end']
    const calls = ['outer(1)', 'outer(2)']

    expect(sunk(...needed, ...own, ...outer, ...calls)).toEqual([
      ...outer.slice(0, 2),
      ...needed,
      ...own,
      ...outer.slice(2),
      ...calls,
    ])
  })

  test('is placed once when more than four branches use it', () => {
    const text = Array.from({ length: 5 }, (_, at) => [`if ARGV[${at + 1}] then`, '  inner()', 'end']).flat()

    expect(sunk(...inner, ...text)).toEqual([...inner, ...text])
  })
})

test('forty functions are moved into each other', () => {
  const text = Array.from({ length: 40 }, (_, at) => [
    `local function f${at}()`,
    `  return ${at === 0 ? '1' : `f${at - 1}()`}`,
    'end',
  ])
  const names = text.map(([name]) => name)

  expect(sunk(...text.flat(), 'return f39()').slice(0, 40)).toEqual(names.toReversed())
})

test('a function without room for more locals stays unchanged', () => {
  const many = Array.from({ length: 198 }, (_, at) => `  local a${at} = value`).join('\n')
  const inner =
    'local function one()\n  return value\nend\nlocal function two()\n  return value\nend\nlocal function three()\n  return value\nend'
  const lines = texts(
    sent(
      `${inner}\nlocal function full()\n${many}\n  return one() .. two() .. three()\nend\nvalue = full()\n${ANSWER}`,
    ),
  )

  expect(lines.slice(0, 3)).toEqual(['local function one()', 'return value', 'end'])
})

describe('on a server', () => {
  let client: Redis
  beforeAll(() => {
    client = new Redis(inject('redisPort'))
  })
  afterAll(() => client.disconnect())

  test('five hundred random programs have the same effects after code sinking', async () => {
    let moved = 0
    for (const text of programs(500)) {
      const order = sunkLines(text)
      const other = order.map((at) => text[at])
      const run = (lines: readonly (string | undefined)[]): Promise<unknown> =>
        client
          .eval(lines.join('\n'), 0, '1')
          .catch((error: Error) => error.message.replace(/:\d+:|[0-9a-f]{40}/g, ''))
      const [before, after] = [await run(text), await run(other)]
      expect(after, other.join('\n')).toEqual(before)
      if (other.join('\n') !== text.join('\n')) moved++
    }
    expect(moved).toBeGreaterThan(150)
  })
})
