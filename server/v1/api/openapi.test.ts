// Every test that uses testing/feed-api.ts also checks that answers match their schemas.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, inject, onTestFinished, test, vi } from 'vitest'
import { type DescribedRoute, type FeedApi, startFeedApi } from '../../testing/feed-api.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const feed = '/v1/feeds/{name}'

function described(): [route: string, DescribedRoute][] {
  return Object.entries(api.description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, route]): [string, DescribedRoute] => [`${method} ${path}`, route]),
  )
}

/** The routes in the tables of the docs. */
function documented(): string[] {
  const tables = ['feeds', 'queues', 'coordination', 'counters'].map((page) =>
    readFileSync(new URL(`../../../docs/http/${page}.md`, import.meta.url), 'utf8').replace(/^[^|].*$/gm, ''),
  )
  const written = tables.join('\n').matchAll(/`(GET|POST|PUT|PATCH|DELETE) (…?\/[^`?\s]*)/g)
  let before = ''
  return [...written].map(([, method = '', path = '']) => {
    before = path.startsWith('…') ? before : path
    return `${method.toLowerCase()} ${inFull(path, before)}`
  })
}

/**
 * `…/keys/{key}` after `/v1/once/{name}/keys/{key}/attempts` is the path up to `/keys`; `…/checks` replaces its end.
 */
function inFull(path: string, before: string): string {
  if (!path.startsWith('…')) return path
  const [, first = ''] = path.split('/')
  const parts = before.split('/')
  const end = parts.includes(first) ? parts.indexOf(first) : parts.length - 1
  return parts.slice(0, end).join('/') + path.slice(1)
}

test('the description is OpenAPI 3.1 and has exactly the routes of the docs', () => {
  expect(api.description.openapi).toBe('3.1.0')
  expect(
    described()
      .map(([route]) => route)
      .toSorted(),
  ).toEqual(documented().toSorted())
})

test('every described route exists, and every other method is rejected', async () => {
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
  expect(headers('post /v1/counters/{name}/increments')).toContain('Idempotency-Key')
  expect(headers(`get ${feed}/tail`)).toContain('Last-Event-ID')
})

test('the description is generated once', async () => {
  const first = await api.call('GET', '/v1/openapi.json')
  const spied = vi.spyOn(JSON, 'stringify')
  onTestFinished(() => spied.mockRestore())
  const second = await api.call('GET', '/v1/openapi.json')

  expect(second.text).toBe(first.text)
  expect(second.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(spied.mock.results.every(({ value }) => String(value).length < 10_000)).toBe(true)
})
