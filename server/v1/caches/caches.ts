import { Type } from '@fastify/type-provider-typebox'
import { InvalidArgumentError } from 'perilune'
import type { Routes } from '../api/routes.ts'
import { forgotten, invalidated, kept, picture, stored } from './answers.ts'
import { cacheOf, howToKeep, path, NewValue } from './arguments.ts'
import { keptText, valueIn } from './values.ts'
import { strict } from '../api/arguments.ts'
import { RefusedRequest } from '../../http/answers/problem-documents.ts'

const url = '/caches/:name/keys/:key'
const Invalidation = Type.Object(
  {
    keys: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 1000 })),
    tag: Type.Optional(Type.String({ description: 'All values that were stored with it.' })),
  },
  { ...strict, description: 'Either of them.' },
)

export function v1Caches(usual: Routes): void {
  const routes = usual.with({ path })
  values(routes)
  wholeKeys(routes)
  invalidate(routes)
}

function values(routes: Routes): void {
  routes.put(
    `${url}/value`,
    'Set',
    {
      description: 'A running load is revoked: its result may be older.',
      body: NewValue,
      answers: stored,
      large: true,
      documents: ['value'],
    },
    async (request) => {
      const value = valueIn(request.jsonText)
      return cacheOf(routes.perilune, request).set(request.params.key, value, howToKeep(request.body))
    },
  )

  routes.get(
    `${url}/value`,
    'Find',
    { description: 'Never elects the caller to load the value.', answers: kept, or: [404] },
    async (request, reply) => {
      const { key } = request.params
      const found = await cacheOf(routes.perilune, request).getEntry(key)
      if (found === null) throw new RefusedRequest('not-found', `There is no value of ${key}.`)
      return reply.type('application/json').send(keptText(found))
    },
  )
}

function wholeKeys(routes: Routes): void {
  routes.get(url, 'Inspect', { answers: picture }, async (request) => {
    const { key } = request.params
    return { key, ...(await cacheOf(routes.perilune, request).inspect(key)) }
  })

  routes.delete(url, 'Invalidate', { answers: forgotten }, async (request) => {
    await cacheOf(routes.perilune, request).invalidate(request.params.key)
  })
}

function invalidate(routes: Routes): void {
  routes.post(
    '/caches/:name/invalidations',
    'Invalidate keys or a tag',
    {
      description: 'Requests after that never get an older value.',
      body: Invalidation,
      answers: invalidated,
      large: true,
    },
    async (request) => {
      const { keys, tag } = request.body
      if ((keys === undefined) === (tag === undefined)) {
        throw new InvalidArgumentError('body', 'must have either keys or a tag')
      }
      return { invalidated: await cacheOf(routes.perilune, request).invalidate(keys ?? { tag: tag ?? '' }) }
    },
  )
}
