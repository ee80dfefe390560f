// What a job waits for.

import { Type } from '@fastify/type-provider-typebox'
import type { ParentsChanged } from 'perilune'
import { strict } from '../api/arguments.ts'
import { RefusedRequest } from '../../http/answers/problem-documents.ts'
import { outcome, parents } from './answers.ts'
import { spread, text, type QueueRoutes, parentIds } from './arguments.ts'
import { parentFor, parentSeen } from './elsewhere.ts'
import { encodeParents } from './encode.ts'
import { noJob, type QueueOf } from './open.ts'

const url = '/queues/:name/jobs/:id/parents'
const add = Type.Array(Type.String({ minLength: 1 }), {
  minItems: 1,
  maxItems: 100,
  description: 'Ids of jobs of the same queue that are older than this one.',
})
const Change = Type.Union([Type.Object({ add }, strict), Type.Object({ remove: parentIds(1) }, strict)])

export function jobParents(routes: QueueRoutes, open: QueueOf): void {
  readParents(routes, open)
  changeParents(routes, open)
}

const Reading = Type.Object({ after: text('`next` of the page before.'), ...spread }, strict)

function readParents(routes: QueueRoutes, open: QueueOf): void {
  routes.get(
    url,
    'Read the parents',
    {
      query: Reading,
      description:
        'With their results, for as long as the job is there. A page ends behind the result with which they reach 4 MiB.',
      answers: parents,
      or: [404],
    },
    async (request, reply) => {
      const { id } = request.params
      const { jobs } = open(request)
      const { partitions: _, ...options } = request.query
      const found = await jobs.parentsPage(id, options)
      if (found.parents.length === 0 && (await jobs.find(id)) === null) throw noJob(id)
      const seen = found.parents.map((parent) => parentSeen(request, parent))
      return reply.type('application/json').send(encodeParents(seen, found.next))
    },
  )
}

function changeParents(routes: QueueRoutes, open: QueueOf): void {
  routes.post(
    url,
    'Change the parents',
    {
      description: 'Of a job that is blocked. Without any it becomes ready. All or nothing.',
      body: Change,
      answers: outcome('changed'),
      or: [404, 409],
    },
    async (request) => {
      const { id, name } = request.params
      const { jobs } = open(request)
      const word =
        'add' in request.body
          ? await jobs.addParents(id, request.body.add)
          : await jobs.removeParents(
              id,
              request.body.remove.map((parent) => parentFor(request, parent, name)),
            )
      return { id, outcome: changedOr(id, word) }
    },
  )
}

/** Throws Refusal where nothing was changed. */
function changedOr(id: string, word: ParentsChanged): 'changed' {
  if (word === 'changed') return word
  if (word === 'absent') throw noJob(id)
  const why =
    word === 'newer' ? 'A parent must be older than the job.' : `The job is not blocked but ${word}.`
  throw new RefusedRequest('refused', why, word)
}
