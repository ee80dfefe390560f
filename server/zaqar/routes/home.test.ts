import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { startApp, type TestApp } from '../../testing/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp(inject('redisPort'))
})
afterAll(() => app[Symbol.asyncDispose]())

test('the root lists the versions with 300, to every client', async () => {
  const answer = await app.call('GET', '/', { headers: { 'Client-ID': null, 'X-Project-ID': null } })

  expect(answer.status).toBe(300)
  expect(answer.headers.get('content-type')).toContain('application/json')
  expect(answer.json.versions).toMatchObject([
    { id: '2', status: 'CURRENT', links: [{ rel: 'self', href: '/v2/' }] },
  ])
})

test('the home document may be cached for a day and names what is served', async () => {
  const answer = await app.call('GET', '/v2/')

  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toContain('application/json-home')
  expect(answer.headers.get('cache-control')).toBe('max-age=86400')
  const resources: Record<string, { [key: string]: string } & { hints: { allow: string[] } }> =
    answer.json.resources
  for (const [name, { hints, ...place }] of Object.entries(resources)) {
    const template = place['href'] ?? place['href-template'] ?? ''
    const path = template.replace(/{\?.*/, '').replaceAll(/{\w+}/g, 'x')
    for (const method of hints.allow) {
      expect([404, 405], `${name}: ${method} ${path}`).not.toContain(await routeStatus(method, path))
    }
  }
})

/** 404 only if there is no route: a missing resource has another body. */
async function routeStatus(method: string, path: string): Promise<number> {
  const { status, json } = await app.call(method, path)
  return status === 404 && !json.description.startsWith('There is nothing at') ? 204 : status
}

test('the home document needs the headers of every call', async () => {
  expect((await app.call('GET', '/v2/', { headers: { 'Client-ID': null } })).status).toBe(400)
})

test('the health of the service is for its operator', async () => {
  const { status, json } = await app.call('GET', '/v2/health')
  expect([status, json.title]).toEqual([403, 'Forbidden'])
})

test('routes that only operators of OpenStack need are not served', async () => {
  for (const path of ['/v2/pools', '/v2/flavors', '/v2/topics']) {
    expect((await app.call('GET', path)).status, path).toBe(404)
  }
})
