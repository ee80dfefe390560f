// Jobs by their tags, and tracked jobs.

import { Type } from '@fastify/type-provider-typebox'
import { limit, strict } from '../api/arguments.ts'
import { page, tagCounts, tagsOfJob, tracked } from './answers.ts'
import { spread, text, type QueueRoutes } from './arguments.ts'
import { encodePage } from './encode.ts'
import { noJob, type QueueOf } from './open.ts'

const Tags = Type.Object({ tags: Type.Array(Type.String(), { maxItems: 20 }) }, strict)
const url = '/queues/:name/jobs/:id'

export function queueTags(routes: QueueRoutes, open: QueueOf): void {
  countTags(routes, open)
  trackJobs(routes, open)

  routes.post(`${url}/tags`, 'Tag', { body: Tags, answers: tagsOfJob, or: [404] }, async (request) => {
    const { id } = request.params
    return tagged(id, await open(request).jobs.tag(id, request.body.tags))
  })

  routes.delete(`${url}/tags/:tag`, 'Untag', { answers: tagsOfJob, or: [404] }, async (request) => {
    const { id, tag } = request.params
    return tagged(id, await open(request).jobs.untag(id, [tag]))
  })
}

function tagged(id: string, tags: readonly string[] | null): object {
  if (tags === null) throw noJob(id)
  return { id, tags }
}

function countTags(routes: QueueRoutes, open: QueueOf): void {
  routes.get(
    '/queues/:name/tags',
    'Count tags',
    {
      query: Type.Object({ limit: limit(50), ...spread }, strict),
      description: 'The most common first.',
      answers: tagCounts,
    },
    async (request) => {
      const { partitions: _, ...options } = request.query
      return { tags: await open(request).jobs.tags(options) }
    },
  )
}

function trackJobs(routes: QueueRoutes, open: QueueOf): void {
  routes.get(
    '/queues/:name/tracked',
    'List tracked jobs',
    {
      query: Type.Object(
        { after: text('The `next` of the page before.'), limit: limit(50), ...spread },
        strict,
      ),
      answers: page,
    },
    async (request, reply) => {
      const { partitions: _, ...options } = request.query
      const found = await open(request).jobs.tracked(options)
      return reply.type('application/json').send(encodePage(found))
    },
  )

  routes.put(`${url}/track`, 'Track', { answers: tracked, or: [404] }, async (request) => {
    const { id } = request.params
    if (!(await open(request).jobs.track(id))) throw noJob(id)
  })

  routes.delete(`${url}/track`, 'Untrack', { answers: tracked, or: [404] }, async (request) => {
    const { id } = request.params
    if (!(await open(request).jobs.untrack(id))) throw noJob(id)
  })
}
