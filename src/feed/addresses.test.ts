import { expect, test } from 'vitest'
import { microsText } from './addresses.ts'

test.each([
  0, 7, 999_999, 1_000_000, 1_000_001, 1_700_000_000_000_000, 1_700_000_000_000_001, 1_700_000_000_999_999,
  1_700_000_001_000_000, 9_007_199_254_740_991,
])('%d microseconds are written with all their digits', (micros) => {
  expect(microsText(micros)).toBe(BigInt(micros).toString())
})
