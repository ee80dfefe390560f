import { expect, test } from 'vitest'
import { Signer } from './signed-url.ts'

const IN_AN_HOUR = Date.now() + 3_600_000

function checkWith(signer: Signer, paths: string[], project = 'p') {
  const signed = signer.sign({ paths, methods: ['GET'], project }, IN_AN_HOUR)
  const headers = {
    'url-signature': signed.signature,
    'url-methods': signed.methods.join(','),
    'url-paths': signed.paths.join(','),
    'url-expires': signed.expires,
    'x-project-id': project,
  }
  return (path: string, more: Record<string, string> = {}) =>
    signer.check({ ...headers, ...more }, 'GET', path)
}

test('a signed path allows itself and the items directly below it, and no longer name with the same beginning', () => {
  const check = checkWith(new Signer('secret'), ['/v2/queues/q/messages'])
  for (const good of ['/v2/queues/q/messages', '/v2/queues/q/messages/1']) {
    expect(() => check(good)).not.toThrow()
  }
  const bad = ['2', '/', '/1/2', '/../messages', '?', '%2F1'].map((rest) => `/v2/queues/q/messages${rest}`)
  for (const path of [...bad, '/v2/queues/q', '/v2/queues/q/message', '/x/v2/queues/q/messages', '']) {
    expect(() => check(path), path).toThrow('signature')
  }
})

test('a project that contains the separator only gets access to its own name', () => {
  const project = String.raw`p\n2999-01-01T00:00:00`
  const check = checkWith(new Signer('secret'), ['/a'], project)
  expect(() => check('/a')).not.toThrow()
  expect(() => check('/a', { 'x-project-id': 'p', 'url-expires': '2999-01-01T00:00:00' })).toThrow(
    'signature',
  )
})

test('without a secret each signer has its own', () => {
  const [one, other] = [new Signer(null), new Signer(null)]
  const sign = (signer: Signer) => signer.sign({ paths: ['/a'], methods: ['GET'], project: 'p' }, IN_AN_HOUR)
  expect(sign(one)).toEqual(sign(one))
  expect(sign(one).signature).not.toBe(sign(other).signature)
})

test('a request without a signature is not checked', () => {
  expect(() => new Signer('secret').check({ 'x-project-id': 'p' }, 'DELETE', '/v2/queues/q')).not.toThrow()
})
