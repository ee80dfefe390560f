// Jobs by their tags, and those that somebody follows.

import { Type } from '@fastify/type-provider-typebox'
import type { App } from '../../http/fastify.ts'
import { answers, BODY } from '../api/answers.ts'
import { limit } from '../api/arguments.ts'
import { NamePath, strict } from '../api/strictness.ts'
import type { Parts } from '../api/lending.ts'
import { page, tagCounts, tagsOfJob, tracked } from './answers.ts'
import { JobPath, QueueQuery, spread, TagPath, text } from './arguments.ts'
import { encodePage } from './encode.ts'
import { noJob, type Open } from './open.ts'

const Tags = Type.Object({ tags: Type.Array(Type.String(), { maxItems: 20 }) }, strict)
const one = { tags: ['queues'], params: JobPath, querystring: QueueQuery }
const url = '/queues/:name/jobs/:id'

export function queueTags(app: App, { limits }: Parts, open: Open): void {
  countTags(app, open)
  trackJobs(app, open)

  const more = { ...one, summary: 'Tag', body: Tags, response: answers(tagsOfJob, 404, ...BODY) }
  app.post(`${url}/tags`, { schema: more, bodyLimit: limits.maxOtherBytes }, async (request) => {
    const { id } = request.params
    return tagged(id, await open(request).jobs.tag(id, request.body.tags))
  })

  const less = { ...one, params: TagPath, summary: 'Untag', response: answers(tagsOfJob, 404) }
  app.delete(`${url}/tags/:tag`, { schema: less }, async (request) => {
    const { id, tag } = request.params
    return tagged(id, await open(request).jobs.untag(id, [tag]))
  })
}

function tagged(id: string, tags: readonly string[] | null): object {
  if (tags === null) throw noJob(id)
  return { id, tags }
}

function countTags(app: App, open: Open): void {
  const schema = {
    tags: ['queues'],
    summary: 'Count tags',
    description: 'The most common first.',
    params: NamePath,
    querystring: Type.Object({ limit: limit(50), ...spread }, strict),
    response: answers(tagCounts),
  }
  app.get('/queues/:name/tags', { schema }, async (request) => {
    const { partitions: _, ...options } = request.query
    return { tags: await open(request).jobs.tags(options) }
  })
}

function trackJobs(app: App, open: Open): void {
  const listed = {
    tags: ['queues'],
    summary: 'List tracked jobs',
    params: NamePath,
    querystring: Type.Object(
      { after: text('`next` of the page before.'), limit: limit(50), ...spread },
      strict,
    ),
    response: answers(page),
  }
  app.get('/queues/:name/tracked', { schema: listed }, async (request, reply) => {
    const { partitions: _, ...options } = request.query
    const found = await open(request).jobs.tracked(options)
    return reply.type('application/json').send(encodePage(found))
  })

  const followed = { ...one, summary: 'Track', response: answers(tracked, 404) }
  app.put(`${url}/track`, { schema: followed }, async (request, reply) => {
    const { id } = request.params
    if (!(await open(request).jobs.track(id))) throw noJob(id)
    return reply.code(204).send()
  })

  const left = { ...one, summary: 'Untrack', response: answers(tracked, 404) }
  app.delete(`${url}/track`, { schema: left }, async (request, reply) => {
    const { id } = request.params
    if (!(await open(request).jobs.untrack(id))) throw noJob(id)
    return reply.code(204).send()
  })
}
