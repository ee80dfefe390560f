// Completed jobs and their next jobs, in one step.

import { Type } from '@fastify/type-provider-typebox'
import { strict } from '../api/arguments.ts'
import { ackedAndEnqueued, allAckedAndEnqueued } from './answers.ts'
import { held, result, text, type QueueRoutes, newJob } from './arguments.ts'
import { beginAll, nextFor } from './elsewhere.ts'
import type { KnownQueues } from './known-queues.ts'
import { notLost, type QueueOf } from './open.ts'
import { stepIn, stepsIn } from './to-the-letter.ts'

const members = {
  next: Type.Object(
    { queue: text('Another queue; default: the queue of the job itself.'), ...newJob },
    strict,
  ),
  result,
}
const One = Type.Object(members, strict)
const Many = Type.Object(
  { jobs: Type.Array(Type.Object({ ...held, ...members }, strict), { minItems: 1, maxItems: 500 }) },
  strict,
)

export function ackAndEnqueueJobs(routes: QueueRoutes, open: QueueOf, known: KnownQueues): void {
  routes.post(
    '/queues/:name/jobs/:id/claims/:token/ack-and-enqueue',
    'Ack and enqueue',
    {
      description:
        'Acks the job and enqueues the next one, here or in another queue: both happen or neither.',
      body: One,
      answers: ackedAndEnqueued,
      large: true,
      documents: ['payload', 'result'],
    },
    async (request) => {
      const { name, id } = request.params
      const token = Number(request.params.token)
      const step = stepIn(request.body, request.jsonText)
      await beginAll(known, request, [step.next], name)
      const job = { id, token, ...step, next: nextFor(request, step.next, name) }
      const { next } = notLost(await open(request).byToken.ackAndEnqueue([job]), token)
      known.keep(request)
      return { id, token, next }
    },
  )

  routes.post(
    '/queues/:name/ack-and-enqueue',
    'Ack and enqueue many',
    { body: Many, answers: allAckedAndEnqueued, large: true, documents: ['payload', 'result'] },
    async (request) => {
      const { name } = request.params
      const { jobs } = request.body
      const given = stepsIn(jobs, request.jsonText)
      await beginAll(
        known,
        request,
        given.map(({ next }) => next),
        name,
      )
      await request.server.bodyTurns.again(request)
      const steps = given.map((each) => ({
        ...each,
        next: nextFor(request, each.next, name),
      }))
      const outcomes = await open(request).byToken.ackAndEnqueue(steps)
      if (outcomes.some(({ outcome }) => outcome !== 'lost')) known.keep(request)
      return { jobs: jobs.map(({ id, token }, at) => ({ id, token, ...outcomes[at] })) }
    },
  )
}
