import { Type } from '@fastify/type-provider-typebox'
import { strict } from '../api/arguments.ts'
import { headerOf } from '../../http/requests/headers.ts'
import { enqueued } from './answers.ts'
import { newJob } from './arguments.ts'
import { checkDependencies, withDependencies } from './elsewhere.ts'
import type { KnownQueues } from './known-queues.ts'
import type { QueueRoutes } from './arguments.ts'
import type { QueueOf } from './open.ts'
import { newJobs } from './to-the-letter.ts'

const NewJob = Type.Object(newJob, strict)
const Body = Type.Union([
  Type.Object({ jobs: Type.Array(NewJob, { minItems: 1, maxItems: 1000 }) }, strict),
  NewJob,
])

export function enqueueJobs(routes: QueueRoutes, open: QueueOf, known: KnownQueues): void {
  routes.post(
    '/queues/:name/jobs',
    'Enqueue',
    {
      description:
        'All or nothing. A job with an id of its own may be enqueued again: it is then a duplicate.',
      described: { 'Idempotency-Key': 'For a request with one job: its idempotencyKey.' },
      body: Body,
      answers: enqueued,
      large: true,
      documents: ['payload'],
      config: { beginsQueue: true },
    },
    async (request, reply) => {
      const key = headerOf(request, 'Idempotency-Key')
      const given = newJobs(request.body, request.jsonText, key)
      await checkDependencies(known, request, given, request.params.name)
      await request.server.bodyTurns.again(request)
      const named = given.map((job) => withDependencies(request, job, request.params.name))
      const results = await open(request).enqueueMany(named)
      const jobs = results.map(({ id, duplicate }) => ({ id, duplicate }))
      return reply.code(jobs.every(({ duplicate }) => duplicate) ? 200 : 201).send({ jobs })
    },
  )
}
