// That answers match their schemas is held by every test that calls through testing/feed-api.ts.

import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type DescribedRoute, type FeedApi, startFeedApi } from '../testing/feed-api.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const feed = '/v1/feeds/{name}'
const lock = '/v1/locks/{name}'
const election = '/v1/elections/{name}'
const semaphore = '/v1/semaphores/{name}'
const subject = '/v1/rate-limits/{name}/subjects/{subject}'
const key = '/v1/once/{name}/keys/{key}'
const ROUTES = [
  `delete ${feed}`,
  `get ${feed}`,
  `delete ${feed}/claims/{token}`,
  `get ${feed}/claims/{token}`,
  `patch ${feed}/claims/{token}`,
  `delete ${feed}/claims/{token}/messages`,
  `delete ${feed}/claims/{token}/messages/{id}`,
  `post ${feed}/claims`,
  `get ${feed}/dead-letters/messages`,
  `delete ${feed}/dead-letters/messages/{id}`,
  `get ${feed}/dead-letters/messages/{id}`,
  `get ${feed}/messages`,
  `post ${feed}/messages`,
  `delete ${feed}/messages/{id}`,
  `get ${feed}/messages/{id}`,
  `delete ${feed}/subscribers/{subscriber}`,
  `patch ${feed}/subscribers/{subscriber}`,
  `put ${feed}/subscribers/{subscriber}`,
  `get ${feed}/subscribers/{subscriber}/messages`,
  `get ${feed}/tail`,
  `delete ${lock}`,
  `get ${lock}`,
  `post ${lock}/leases`,
  `delete ${lock}/leases/{token}`,
  `patch ${lock}/leases/{token}`,
  `get ${election}`,
  `post ${election}/terms`,
  `delete ${election}/terms/{token}`,
  `patch ${election}/terms/{token}`,
  `delete ${semaphore}`,
  `get ${semaphore}`,
  `post ${semaphore}/leases`,
  `delete ${semaphore}/leases/{token}`,
  `patch ${semaphore}/leases/{token}`,
  `put ${semaphore}/limit`,
  `delete ${subject}`,
  `get ${subject}`,
  `post ${subject}/takes`,
  `post ${subject}/peeks`,
  `post ${subject}/refunds`,
  `delete ${subject}/leases/{token}`,
  `delete ${key}`,
  `get ${key}`,
  `get ${key}/result`,
  `post ${key}/attempts`,
  `delete ${key}/attempts/{token}`,
  `patch ${key}/attempts/{token}`,
  `put ${key}/attempts/{token}/result`,
]

function described(): [route: string, DescribedRoute][] {
  return Object.entries(api.description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, route]): [string, DescribedRoute] => [`${method} ${path}`, route]),
  )
}

test('the description is OpenAPI 3.1 and has every route, and no other', () => {
  expect(api.description.openapi).toBe('3.1.0')
  expect(
    described()
      .map(([route]) => route)
      .toSorted(),
  ).toEqual(ROUTES.toSorted())
})

test('every route that is described is there, and every method that is not is refused', async () => {
  for (const [path, methods] of Object.entries(api.description.paths)) {
    const real = path.replace(/\{\w+\}/g, '1')
    const { headers, status } = await api.call('OPTIONS', real)
    const allowed = (headers.get('allow') ?? '').split(', ').filter((method) => method !== 'HEAD')
    expect([status, allowed.toSorted()], path).toEqual([
      405,
      Object.keys(methods)
        .map((method) => method.toUpperCase())
        .toSorted(),
    ])
  }
})

test('every answer and every parameter is described in words', () => {
  for (const [route, { responses, parameters }] of described()) {
    const statuses = Object.keys(responses).map(Number)
    expect(statuses, route).toEqual(expect.arrayContaining([400, 503]))
    expect(
      statuses.some((status) => status < 300),
      route,
    ).toBe(true)
    for (const [status, { description, content }] of Object.entries(responses)) {
      expect(description, `${route} ${status}`).toMatch(/^[A-Z`].{3,}\.$/)
      const types = Object.keys(content ?? {})
      expect(types, `${route} ${status}`).toEqual(Number(status) < 300 ? types : ['application/problem+json'])
      expect(types.length === 0, `${route} ${status}`).toBe(status === '204')
    }
    for (const { name, description } of parameters) expect(description, `${route} ${name}`).toBeTruthy()
  }
})

test('every parameter of a path and the headers that are read are described', () => {
  for (const [route, { parameters }] of described()) {
    const inPath = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
    const names = (where: string) => parameters.filter((each) => each.in === where).map(({ name }) => name)
    expect(names('path').toSorted(), route).toEqual(inPath.toSorted())
    expect(names('header'), route).toContain('X-Project-ID')
  }
  const headers = (route: string) =>
    described()
      .find(([name]) => name === route)?.[1]
      .parameters.filter((each) => each.in === 'header')
      .map(({ name }) => name)
  expect(headers(`post ${feed}/messages`)).toContain('Idempotency-Key')
  expect(headers(`get ${feed}/tail`)).toContain('Last-Event-ID')
})
