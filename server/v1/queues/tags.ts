// Jobs by their tags, and those that somebody follows.

import { Type } from '@fastify/type-provider-typebox'
import type { Routes } from '../api/routes.ts'
import { NamePath, limit, strict } from '../api/arguments.ts'
import { page, tagCounts, tagsOfJob, tracked } from './answers.ts'
import { JobPath, QueueQuery, spread, TagPath, text } from './arguments.ts'
import { encodePage } from './encode.ts'
import { noJob, type Open } from './open.ts'

const Tags = Type.Object({ tags: Type.Array(Type.String(), { maxItems: 20 }) }, strict)
const one = { params: JobPath, query: QueueQuery }
const url = '/queues/:name/jobs/:id'

export function queueTags(routes: Routes, open: Open): void {
  countTags(routes, open)
  trackJobs(routes, open)

  routes.post(
    `${url}/tags`,
    { ...one, summary: 'Tag', body: Tags, answers: tagsOfJob, problems: [404] },
    async (request) => {
      const { id } = request.params
      return tagged(id, await open(request).jobs.tag(id, request.body.tags))
    },
  )

  routes.delete(
    `${url}/tags/:tag`,
    { ...one, params: TagPath, summary: 'Untag', answers: tagsOfJob, problems: [404] },
    async (request) => {
      const { id, tag } = request.params
      return tagged(id, await open(request).jobs.untag(id, [tag]))
    },
  )
}

function tagged(id: string, tags: readonly string[] | null): object {
  if (tags === null) throw noJob(id)
  return { id, tags }
}

function countTags(routes: Routes, open: Open): void {
  routes.get(
    '/queues/:name/tags',
    {
      summary: 'Count tags',
      description: 'The most common first.',
      params: NamePath,
      query: Type.Object({ limit: limit(50), ...spread }, strict),
      answers: tagCounts,
    },
    async (request) => {
      const { partitions: _, ...options } = request.query
      return { tags: await open(request).jobs.tags(options) }
    },
  )
}

function trackJobs(routes: Routes, open: Open): void {
  routes.get(
    '/queues/:name/tracked',
    {
      summary: 'List tracked jobs',
      params: NamePath,
      query: Type.Object({ after: text('`next` of the page before.'), limit: limit(50), ...spread }, strict),
      answers: page,
    },
    async (request, reply) => {
      const { partitions: _, ...options } = request.query
      const found = await open(request).jobs.tracked(options)
      return reply.type('application/json').send(encodePage(found))
    },
  )

  routes.put(
    `${url}/track`,
    { ...one, summary: 'Track', answers: tracked, problems: [404] },
    async (request) => {
      const { id } = request.params
      if (!(await open(request).jobs.track(id))) throw noJob(id)
    },
  )

  routes.delete(
    `${url}/track`,
    { ...one, summary: 'Untrack', answers: tracked, problems: [404] },
    async (request) => {
      const { id } = request.params
      if (!(await open(request).jobs.untrack(id))) throw noJob(id)
    },
  )
}
