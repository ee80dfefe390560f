// Every POST must be application/json, also one without a body: a page of another origin cannot send that without a
// preflight request, even in a browser that hides the origin.

import type { App } from '../../http/fastify.ts'
import { unsupportedMediaType } from '../../http/answers/problems.ts'
import { answers } from './answers.ts'

const JSON_TYPE = /^application\/json\s*(?:;|$)/i

/** To be called before the routes are added. */
export function takeJsonPostsOnly(app: App): void {
  app.addHook('onRequest', async ({ raw }) => {
    const { 'content-type': type = '' } = raw.headers
    if (raw.method === 'POST' && !JSON_TYPE.test(type.trim())) throw unsupportedMediaType('application/json')
  })
  app.addHook('onRoute', ({ method, schema }) => {
    if (method !== 'POST' || schema?.response === undefined) return
    schema.response = { ...answers({}, 415), ...schema.response }
  })
}
