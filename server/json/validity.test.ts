import { expect, test, vi } from 'vitest'
import { storedJson, storedJsonBytes } from './stored.ts'
import { isJson, isJsonInSteps } from './validity.ts'

const GOOD = [
  '0',
  '-0',
  '1.5e+7',
  '2E-3',
  'true',
  'false',
  'null',
  '""',
  '[]',
  '{}',
  ' [ ] ',
  '\t{\r\n} ',
  '[1,"a",{"b":[null]}]',
  '{"a":{"b":{}},"c":[[],[{}]]}',
  ' { "a" : 1 , "b" : [ 1 , 2 ] } ',
  '"\\u00e9\\n\\"\\\\\\/"',
  '"\u007f\ud800é🙂"',
  `"${'long '.repeat(50)}\\n${'more'.repeat(50)}"`,
  `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
]
const PARTS = [
  ...'[ ] { } " , : \\ / . - + 0 1 2 3 e E \n \t u'.split(' '),
  ' ',
  'true',
  'nul',
  '"a"',
  '"b":',
  '\u0001',
  '\\u00e',
  '1.',
  '{"a":1',
]

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test.each(GOOD)('it is JSON: %s', (text) => {
  expect(isJson(Buffer.from(text))).toBe(true)
})

test('it is JSON exactly if JSON.parse accepts it, whatever it contains', () => {
  let seed = 7
  const next = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return (seed >>> 8) % below
  }
  const one = (): string => PARTS[next(PARTS.length)] ?? ''
  for (let round = 0; round < 60_000; round += 1) {
    const good = GOOD[next(GOOD.length - 1)] ?? ''
    const [from, to] = [next(good.length + 1), next(3)]
    const changed = good.slice(0, from) + one() + good.slice(from + to)
    const drawn = Array.from({ length: next(6) }, one).join('')
    for (const text of [changed, drawn])
      if (isJson(Buffer.from(text)) !== parses(text)) expect.fail(JSON.stringify(text))
  }
})

test('in steps it is JSON exactly as at once, beside another check', async () => {
  const inner = Array.from({ length: 90_000 }, (_, at) => ({
    at,
    text: `${'x'.repeat(70)}\\n`,
    of: [at / 3, null],
  }))
  const good = JSON.stringify({ list: inner, more: { text: 'y'.repeat(600_000) } })
  const broken = good.replace('"at":80000,', '"at":80000 ')
  const odd = `[${'[],'.repeat(400_000)}"${'z'.repeat(100)}\u0001"]`
  let steps = 0
  const step = (): Promise<void> => {
    steps += 1
    return Promise.resolve()
  }
  const found = await Promise.all(
    [good, broken, odd, good.slice(0, -1)].map((text) => isJsonInSteps(Buffer.from(text), step)),
  )

  expect(found).toEqual([true, false, false, false])
  expect(steps).toBeGreaterThan(40)
})

test('stored JSON is not parsed, and invalid JSON names its error', () => {
  const parse = vi.spyOn(JSON, 'parse')
  expect(storedJson.decode(Buffer.from('{"a":[1]}'))).toBe('{"a":[1]}')
  expect(parse).not.toHaveBeenCalled()
  parse.mockRestore()
  expect(() => storedJson.decode(Buffer.from('{"a":'))).toThrow(SyntaxError)
})

test('as bytes it is unchanged, and invalid UTF-8 is as in the text', () => {
  const stored = Buffer.from('{"a":"é"}')
  expect(storedJsonBytes.decode(stored)).toBe(stored)
  expect(String(storedJsonBytes.decode(Buffer.from('"\xff"', 'latin1')))).toBe('"\ufffd"')
  expect(() => storedJsonBytes.decode(Buffer.from('[1'))).toThrow(SyntaxError)
})
