import { fingerprintOf } from 'perilune'
import { expect, test } from 'vitest'

test('a fingerprint distinguishes its parts, as text and as bytes', () => {
  const seen = [
    fingerprintOf(),
    fingerprintOf(''),
    fingerprintOf('', ''),
    fingerprintOf('ab', 'c'),
    fingerprintOf('a', 'bc'),
    fingerprintOf('abc'),
    fingerprintOf('1:a'),
    fingerprintOf('é'),
  ]

  expect(new Set(seen).size).toBe(seen.length)
  expect(fingerprintOf('é', 'b')).toBe(fingerprintOf(Buffer.from('é'), new Uint8Array([98])))
  expect(seen.every((each) => /^[0-9a-f]{64}$/.test(each))).toBe(true)
})

test('a part that is neither text nor bytes is rejected', () => {
  expect(() => fingerprintOf(JSON.parse('7'))).toThrow('parts must be strings or bytes')
})
