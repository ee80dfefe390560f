// The text that is sent to Redis leaves out functions without a caller, and nothing else.

import { expect, test } from 'vitest'
import { ANSWER, sent, texts } from './sent-fixture.ts'

const ANSWERED = ["redis.call('SET', state, value)", "return { 'set', value }"]

test('an unused function is removed with the comments above it and the empty line after it', () => {
  const lines = sent(
    `-- What is not used.\n-- It is long.\nlocal function odd()\n  return 1\nend\n\n${ANSWER}`,
  )

  expect(lines).toEqual([
    [16, ANSWERED[0]],
    [17, ANSWERED[1]],
  ])
})

test('code on the same lines as an unused function stays', () => {
  const lines = sent(
    `local seen = #value local function odd()\n  return 1\nend redis.call('DEL', keys.state)\nvalue = value .. seen\n${ANSWER}`,
  )

  expect(lines.map(([at, text]) => [at, text.trim()])).toEqual([
    [10, 'local seen = #value'],
    [12, "redis.call('DEL', state)"],
    [13, 'value = value .. seen'],
    [14, ANSWERED[0]],
    [15, ANSWERED[1]],
  ])
})

test('a function that is called on its own line stays', () => {
  const body = `local function clamp(x) return x .. '!' end value = clamp(value)\n${ANSWER}`

  expect(texts(sent(body))).toEqual([body.split('\n')[0], ...ANSWERED])
})

test('a long comment that ends on the line above a function, or before it, is removed whole', () => {
  const above = sent(
    `--[[ what follows\nis not used yet\n-- but will be ]]\nlocal function later()\n  return 1\nend\n\n${ANSWER}`,
  )
  const before = sent(`--[[ not\nused ]] local function later() end\n${ANSWER}`)

  expect(texts(above)).toEqual(ANSWERED)
  expect(texts(before)).toEqual(ANSWERED)
})

test('lines of a string that look like a comment are not comments', () => {
  const body = `local text = [[\n-- no comment]]\nlocal function odd() end\nvalue = text\n${ANSWER}`

  expect(texts(sent(body))).toEqual(['local text = [[', '-- no comment]]', 'value = text', ...ANSWERED])
})

test('a semicolon after an unused function is removed with it', () => {
  expect(texts(sent(`local function odd() end;\n${ANSWER}`))).toEqual(ANSWERED)
  expect(texts(sent(`local function odd() end --[[ b ]] ;\n${ANSWER}`))).toEqual(ANSWERED)
})

test('an unused function stays where removing it would join its neighbours into one call', () => {
  const body = `local call = value local function odd() end (redis).call('SET', keys.state, call)\nreturn { 'set', value }\n`

  expect(texts(sent(body))[0]).toContain('local function odd() end (')
  expect(texts(sent(body.replace('end (', 'end; (')))[0]).toContain('local function odd() end; (')
})

test('a function stays when one statement defines several', () => {
  const body = `local odd, more = function() end, value\nvalue = more\n${ANSWER}`

  expect(texts(sent(body))).toEqual(['local odd, more = function() end, value', 'value = more', ...ANSWERED])
})

test('a function that only unused functions call is removed too, inside and outside of used ones', () => {
  const body = `local function one() return 1 end
local two = function() return one() end
local function used() local three = function() return two() end return value end
value = used()\n${ANSWER}`

  expect(texts(sent(body))).toEqual([
    expect.stringMatching(/^local function used\(\) +return value end$/),
    'value = used()',
    ...ANSWERED,
  ])
})

test('text that looks like an include inside a string is no include', () => {
  const body = `local text = [[\n-- @include shared/odd\n]]\nvalue = text\n${ANSWER}`

  expect(texts(sent(body))).toEqual(body.replace('keys.', '').split('\n').slice(0, -1))
})

test('an unused function inside an unused one is removed with it, and the code after them stays', () => {
  const inner = '  -- It has no caller.\n  local function inner()\n    return 1\n  end\n\n'
  const body = `local function outer()\n${inner}  return 2\nend\n\nlocal kept = value\nvalue = kept\n${ANSWER}`

  expect(texts(sent(body))).toEqual(['local kept = value', 'value = kept', ...ANSWERED])
})
