// The dependencies of a job.

import { Type } from '@fastify/type-provider-typebox'
import type { DependenciesChanged } from 'perilune'
import { strict } from '../api/arguments.ts'
import { RefusedRequest } from '../../http/answers/problem-documents.ts'
import { outcome, dependencies } from './answers.ts'
import { spread, text, type QueueRoutes, dependencyIds } from './arguments.ts'
import { dependencyFor, dependencySeen } from './elsewhere.ts'
import { encodeDependencies } from './encode.ts'
import { noJob, type QueueOf } from './open.ts'

const url = '/queues/:name/jobs/:id/dependencies'
const add = Type.Array(Type.String({ minLength: 1 }), {
  minItems: 1,
  maxItems: 100,
  description: 'Ids of jobs of the same queue that are older than this one.',
})
const Change = Type.Union([Type.Object({ add }, strict), Type.Object({ remove: dependencyIds(1) }, strict)])

export function jobDependencies(routes: QueueRoutes, open: QueueOf): void {
  readDependencies(routes, open)
  changeDependencies(routes, open)
}

const Reading = Type.Object({ after: text('The `next` of the page before.'), ...spread }, strict)

function readDependencies(routes: QueueRoutes, open: QueueOf): void {
  routes.get(
    url,
    'Read the dependencies',
    {
      query: Reading,
      description:
        'With their results, for as long as the job exists. A page ends after the result with which the results reach 4 MiB.',
      answers: dependencies,
      or: [404],
    },
    async (request, reply) => {
      const { id } = request.params
      const { jobs } = open(request)
      const { partitions: _, ...options } = request.query
      const found = await jobs.dependenciesPage(id, options)
      if (found.dependencies.length === 0 && (await jobs.get(id)) === null) throw noJob(id)
      const seen = found.dependencies.map((dependency) => dependencySeen(request, dependency))
      return reply.type('application/json').send(encodeDependencies(seen, found.next))
    },
  )
}

function changeDependencies(routes: QueueRoutes, open: QueueOf): void {
  routes.post(
    url,
    'Change the dependencies',
    {
      description: 'Only for a blocked job. Without dependencies it becomes ready. All or nothing.',
      body: Change,
      answers: outcome('changed'),
      or: [404, 409],
    },
    async (request) => {
      const { id, name } = request.params
      const { jobs } = open(request)
      const word =
        'add' in request.body
          ? await jobs.addDependencies(id, request.body.add)
          : await jobs.removeDependencies(
              id,
              request.body.remove.map((dependency) => dependencyFor(request, dependency, name)),
            )
      return { id, outcome: changedOr(id, word) }
    },
  )
}

/** Throws Refusal if nothing was changed. */
function changedOr(id: string, word: DependenciesChanged): 'changed' {
  if (word === 'changed') return word
  if (word === 'absent') throw noJob(id)
  const why =
    word === 'newer' ? 'A dependency must be older than the job.' : `The job is not blocked but ${word}.`
  throw new RefusedRequest('refused', why, word)
}
