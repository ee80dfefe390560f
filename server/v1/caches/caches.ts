import { Type } from '@fastify/type-provider-typebox'
import { InvalidArgumentError } from 'perilune'
import type { App } from '../../http/fastify.ts'
import { answers, BODY } from '../api/answers.ts'
import { forgotten, invalidated, kept, picture, stored } from './answers.ts'
import { cacheOf, howToKeep, KeyPath, NewValue } from './arguments.ts'
import { keptText, valueIn } from './values.ts'
import { NamePath, NoQuery, strict } from '../api/strictness.ts'
import type { Parts } from '../api/lending.ts'
import { Refusal } from '../../http/answers/problem-documents.ts'

const tags = ['caches']
const url = '/caches/:name/keys/:key'
const Invalidation = Type.Object(
  {
    keys: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 1000 })),
    tag: Type.Optional(Type.String({ description: 'All values that were stored with it.' })),
  },
  { ...strict, description: 'Either of them.' },
)

export function v1Caches(app: App, parts: Parts): void {
  values(app, parts)
  wholeKeys(app, parts)
  invalidate(app, parts)
}

function values(app: App, { perilune, limits }: Parts): void {
  const put = {
    tags,
    summary: 'Set',
    description: 'A load that is under way is revoked: what it finds may be older.',
    params: KeyPath,
    querystring: NoQuery,
    body: NewValue,
    response: answers(stored, ...BODY),
  }
  app.put(`${url}/value`, { schema: put, bodyLimit: limits.maxAppendBytes }, async (request) => {
    const value = valueIn(request.jsonText)
    return cacheOf(perilune, request).set(request.params.key, value, howToKeep(request.body))
  })

  const find = {
    tags,
    summary: 'Find',
    description: 'It never has anybody load the value.',
    params: KeyPath,
    querystring: NoQuery,
    response: answers(kept, 404),
  }
  app.get(`${url}/value`, { schema: find }, async (request, reply) => {
    const { key } = request.params
    const found = await cacheOf(perilune, request).find(key)
    if (found === null) throw new Refusal('not-found', `There is no value of ${key}.`)
    return reply.type('application/json').send(keptText(found))
  })
}

function wholeKeys(app: App, { perilune }: Parts): void {
  const seen = { tags, summary: 'Inspect', params: KeyPath, querystring: NoQuery, response: answers(picture) }
  app.get(url, { schema: seen }, async (request) => {
    const { key } = request.params
    return { key, ...(await cacheOf(perilune, request).inspect(key)) }
  })

  const gone = {
    tags,
    summary: 'Invalidate',
    params: KeyPath,
    querystring: NoQuery,
    response: answers(forgotten),
  }
  app.delete(url, { schema: gone }, async (request, reply) => {
    await cacheOf(perilune, request).invalidate(request.params.key)
    return reply.code(204).send()
  })
}

function invalidate(app: App, { perilune, limits }: Parts): void {
  const schema = {
    tags,
    summary: 'Invalidate keys or a tag',
    description: 'Whoever asks after that never gets what was made before.',
    params: NamePath,
    querystring: NoQuery,
    body: Invalidation,
    response: answers(invalidated, ...BODY),
  }
  const options = { schema, bodyLimit: limits.maxAppendBytes }
  app.post('/caches/:name/invalidations', options, async (request) => {
    const { keys, tag } = request.body
    if ((keys === undefined) === (tag === undefined)) {
      throw new InvalidArgumentError('body', 'must have either keys or a tag')
    }
    return { invalidated: await cacheOf(perilune, request).invalidate(keys ?? { tag: tag ?? '' }) }
  })
}
