import { expect, test } from 'vitest'
import { judgeResponse, type KeepRules } from './cache-control.ts'

const rules: KeepRules = { vary: [], stripCookies: false }
const judge = (...headers: [string, string][]) =>
  judgeResponse({ status: 200, headers, body: new Uint8Array() }, rules)
const at = (second: string): string => `Wed, 25 Nov 2026 08:00:${second} GMT`

test('without a lifetime in Cache-Control, Expires minus Date is the lifetime of a response', () => {
  expect(judge(['Expires', at('40')], ['Date', at('10')])).toMatchObject({ status: 'keep', freshMs: 30_000 })
  expect(judge(['Expires', at('40')], ['Date', at('10')], ['Cache-Control', 'max-age=5'])).toMatchObject({
    freshMs: 5000,
  })
  const inAnHour = new Date(Date.now() + 3_600_000).toUTCString()
  const verdict = judge(['Expires', inAnHour])
  expect(verdict).toMatchObject({ status: 'keep' })
  expect('freshMs' in verdict && verdict.freshMs).toBeGreaterThan(3_000_000)
})

test.each(['0', '-1', 'soon', at('10')])(
  'a response that has expired by Expires is not stored: %s',
  (expires) => {
    expect(judge(['Expires', expires], ['Date', at('10')])).toEqual({ status: 'pass' })
  },
)

test('Pragma: no-cache applies only without Cache-Control', () => {
  expect(judge(['Pragma', 'no-cache'])).toEqual({ status: 'pass' })
  expect(judge(['Pragma', 'no-cache'], ['Cache-Control', 'max-age=60'])).toMatchObject({ status: 'keep' })
})

test('the age of a response is part of its lifetime', () => {
  expect(judge(['Cache-Control', 'max-age=60'], ['Age', '59'])).toMatchObject({
    ageMs: 59_000,
    freshMs: 60_000,
  })
  expect(judge(['Cache-Control', 'max-age=60'], ['Age', '60'])).toEqual({ status: 'pass' })
  expect(judge(['Age', '7'])).toMatchObject({ ageMs: 7000, freshMs: null })
  expect(judge(['Age', 'old'])).toMatchObject({ ageMs: 0 })
})

test('of a repeated directive the first one applies', () => {
  expect(judge(['Cache-Control', 'max-age=5, max-age=60'])).toMatchObject({ freshMs: 5000 })
})
