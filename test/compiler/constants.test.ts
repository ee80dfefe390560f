// Constants are inlined where they are read, and no local is sent for them.

import { expect, test } from 'vitest'
import { ANSWER, sent, texts } from './sent-fixture.ts'

const ANSWERED = ["redis.call('SET', state, value)", "return { 'set', value }"]

test('numbers, texts and flags that never change', () => {
  const body = `-- What it is.
local SPAN_MS = 29 * 8 -- how long
local LOWEST, NAME = -5, 'x'
local DEFAULT = -5
local WORD = 'it\\'s'
local IS_ON = true
local function span()
  return SPAN_MS .. DEFAULT .. WORD .. tostring(IS_ON) .. LOWEST .. NAME
end
value = span() - DEFAULT + SPAN_MS
${ANSWER}`

  expect(sent(body)).toEqual([
    [16, 'local function span()'],
    [17, "return (29 * 8) .. (-5) .. 'it\\'s' .. tostring(true) .. (-5) .. 'x'"],
    [18, 'end'],
    [19, 'value = span() - (-5) + (29 * 8)'],
    [20, ANSWERED[0]],
    [21, ANSWERED[1]],
  ])
})

test('a number keeps its distance from the dots after it', () => {
  expect(texts(sent(`local A = 5\nvalue = A..value..A ..value\n${ANSWER}`))[0]).toBe(
    'value = 5 ..value..5 ..value',
  )
})

test('a constant that would merge with the sign before it, or takes more than a line, stays a local', () => {
  const lines = [
    'local HALF = .5',
    'local FIELD = [[field]]',
    'local DAY_MS = 24 *',
    '60 * 60000',
    'local record = { [FIELD] = value..HALF }',
    'value = record[FIELD] .. DAY_MS',
  ]

  expect(sent(`${lines.join('\n')}\n${ANSWER}`)).toEqual(
    [...lines, ...ANSWERED].map((text, at) => [10 + at, text]),
  )
})

test('a value that changes, is called or is indexed stays a local', () => {
  const lines = [
    'local count = 1',
    'count = count + 1',
    "local text = 'abc'",
    'value = text:rep(count)',
    "local first, last = 'a', value",
    "local one, other = 'a'",
    'value = first .. last .. one .. tostring(other)',
    "local word = 'abc'",
    'value = word :rep(2)',
    'local odd = 1',
    'local function grow()',
    'odd = odd + 1',
    'end',
    'grow()',
    'value = value .. odd',
  ]

  expect(texts(sent(`${lines.join('\n')}\n${ANSWER}`))).toEqual([...lines, ...ANSWERED])
})

test('a constant stays where removing it would join its neighbours into one call', () => {
  const body = `local call = value local K = 5 (redis).call('SET', keys.state, call .. K)\nreturn { 'set', value }\n`

  expect(texts(sent(body))[0]).toContain('local K = 5 (redis)')
})

test('a name that shadows a constant is a different name', () => {
  const body = `local K = 5\nlocal function of(K)\n  return K\nend\nlocal before = K\nlocal K = value\nvalue = of(before) .. K\n${ANSWER}`

  expect(texts(sent(body))).toEqual([
    'local before = 5',
    'local K = value',
    'local function of(K)',
    'return K',
    'end',
    'value = of(before) .. K',
    ...ANSWERED,
  ])
})
