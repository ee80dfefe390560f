import { Readable } from 'node:stream'
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

test.each([
  ['a stream', () => Readable.from(['a'])],
  ['a stream of the web', () => new Blob(['a']).stream()],
  ['an ArrayBuffer', () => new ArrayBuffer(1)],
  ['a Map', () => new Map([['a', 1]])],
  ['a file in a field', () => ({ photo: { name: 'a', file: Readable.from(['a']) } })],
  [
    'of a class that hides what it has',
    () =>
      new (class {
        #hidden = 1
        get some() {
          return this.#hidden
        }
      })(),
  ],
  ['a number beyond JSON', () => ({ a: [1n] })],
])('a body that is %s is an error without a fingerprint of its own', async (_what, body) => {
  await expect(fingerprintOf('9', body())).rejects.toThrow('give `fingerprint`')
})

test('bodies of what parsers make are told apart', async () => {
  const plain = Object.assign(Object.create(null) as object, { a: 1 })
  const bodies = [{ a: 1 }, { a: [{}, null] }, { at: new Date(0) }, { photo: Buffer.from('a') }, [], 7, true]
  const told = await Promise.all(bodies.map((body) => fingerprintOf('9', body)))
  expect(new Set(told).size).toBe(bodies.length)
  expect(await fingerprintOf('9', plain)).toBe(told[0])
})
