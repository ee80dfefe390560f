import { expect, test } from 'vitest'
import { incomingOf } from './node-request.ts'

function fingerprintOf(length: string, body?: unknown): Promise<string | null> {
  const request = { method: 'POST', originalUrl: '/orders', headers: { 'content-length': length }, body }
  return incomingOf(request, {}, 100).fingerprint()
}

test('a body of null is a body, and one that nobody has parsed is an error', async () => {
  expect(await fingerprintOf('4', null)).not.toBe(await fingerprintOf('0', null))
  expect(await fingerprintOf('0', null)).toBe(await fingerprintOf('0'))
  await expect(fingerprintOf('4')).rejects.toThrow('has not been parsed')
})
