import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { incomingOf } from './node-request.ts'

function fingerprintOf(length: string, body?: unknown): Promise<string | null> {
  const request = { method: 'POST', originalUrl: '/orders', headers: { 'content-length': length }, body }
  return incomingOf(request, {}, 100).fingerprint()
}

test('null is a valid body, and a body that was not parsed is an error', async () => {
  expect(await fingerprintOf('4', null)).not.toBe(await fingerprintOf('0', null))
  expect(await fingerprintOf('0', null)).toBe(await fingerprintOf('0'))
  await expect(fingerprintOf('4')).rejects.toThrow('has not been parsed')
})

test.each(['file', 'files'])(
  'files next to the body in `%s` are an error without a fingerprint function',
  async (name) => {
    const request = { method: 'POST', originalUrl: '/orders', headers: {}, body: {}, [name]: { size: 3 } }
    await expect(incomingOf(request, {}, 100).fingerprint()).rejects.toThrow('files in addition to its body')
    expect(await incomingOf(request, { fingerprint: () => 'own' }, 100).fingerprint()).toBe('own')
  },
)

test.each([
  ['a stream', () => Readable.from(['a'])],
  ['a web stream', () => new Blob(['a']).stream()],
  ['an ArrayBuffer', () => new ArrayBuffer(1)],
  ['a Map', () => new Map([['a', 1]])],
  ['a file in a field', () => ({ photo: { name: 'a', file: Readable.from(['a']) } })],
  [
    'an instance of a class with private state',
    () =>
      new (class {
        #hidden = 1
        get some() {
          return this.#hidden
        }
      })(),
  ],
  ['a BigInt', () => ({ a: [1n] })],
])('a body that is or contains %s is an error without a fingerprint function', async (_what, body) => {
  await expect(fingerprintOf('9', body())).rejects.toThrow('give `fingerprint`')
})

test('different parsed bodies have different fingerprints', async () => {
  const plain = Object.assign(Object.create(null) as object, { a: 1 })
  const bodies = [{ a: 1 }, { a: [{}, null] }, { at: new Date(0) }, { photo: Buffer.from('a') }, [], 7, true]
  const fingerprints = await Promise.all(bodies.map((body) => fingerprintOf('9', body)))
  expect(new Set(fingerprints).size).toBe(bodies.length)
  expect(await fingerprintOf('9', plain)).toBe(fingerprints[0])
})

test('parsed bodies of different JSON texts have different fingerprints', async () => {
  const texts = [
    '{"a":null}',
    '{"a":1e999}',
    '{"a":-1e999}',
    '{"a":0}',
    '{"a":-0}',
    '"{\\"a\\":0}"',
    '5',
    '"5"',
    '"\\ud800"',
    '"\\ud801"',
  ]
  const fingerprints = await Promise.all(
    texts.map((text) => {
      const headers = { 'content-length': '9', 'content-type': 'application/json; charset=utf-8' }
      const body: unknown = JSON.parse(text)
      return incomingOf({ method: 'POST', originalUrl: '/orders', headers, body }, {}, 100).fingerprint()
    }),
  )

  expect(new Set(fingerprints).size).toBe(texts.length)
})
