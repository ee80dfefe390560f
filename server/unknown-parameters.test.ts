// No route ignores a parameter that it does not know: a misspelt condition would delete more than it names.

import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from './testing/feed-api.ts'

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const
/** What stands in a path where a route checks it first. */
const PLACES: Readonly<Record<string, string>> = { token: '1', load: '1', kind: 'list' }

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

test('every route refuses an unknown parameter', async () => {
  const { paths } = api.description
  const ignoring: string[] = []
  let routes = 0
  for (const [path, methods] of Object.entries(paths)) {
    for (const method of METHODS) {
      const route = methods[method]
      if (route === undefined || path.includes('openapi')) continue
      routes += 1
      const place = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => PLACES[name] ?? 'x')
      const body = route.requestBody === undefined ? {} : { body: {} }
      const answer = await api.call(method.toUpperCase(), `${place}?misspelt=1`, body)
      // Some refuse an empty body first.
      if (answer.status !== 400) ignoring.push(`${method} ${path}: ${answer.status}`)
    }
  }

  expect(ignoring).toEqual([])
  expect(routes).toBeGreaterThan(100)
})
