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

test.each(['file', 'files'])(
  'what is beside the body as %s is an error, unless the fingerprint is made of it',
  async (name) => {
    const request = { method: 'POST', originalUrl: '/orders', headers: {}, body: {}, [name]: { size: 3 } }
    await expect(incomingOf(request, {}, 100).fingerprint()).rejects.toThrow('files beside its body')
    expect(await incomingOf(request, { fingerprint: () => 'own' }, 100).fingerprint()).toBe('own')
  },
)
