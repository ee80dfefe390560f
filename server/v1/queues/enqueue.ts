import { Type } from '@fastify/type-provider-typebox'
import type { App } from '../../http/fastify.ts'
import { answers, BODY } from '../api/answers.ts'
import { NamePath, strict } from '../api/strictness.ts'
import type { Parts } from '../api/lending.ts'
import { headerOf } from '../../http/requests/headers.ts'
import { enqueued } from './answers.ts'
import { QueueQuery } from './arguments.ts'
import { checkParents, withParents } from './elsewhere.ts'
import type { KnownQueues } from './known-queues.ts'
import { newJob } from './new-job.ts'
import type { Open } from './open.ts'
import { newJobs } from './to-the-letter.ts'

const NewJob = Type.Object(newJob, strict)
const Body = Type.Union([
  Type.Object({ jobs: Type.Array(NewJob, { minItems: 1, maxItems: 1000 }) }, strict),
  NewJob,
])

export function enqueueJobs(app: App, { limits }: Parts, open: Open, known: KnownQueues): void {
  const schema = {
    tags: ['queues'],
    summary: 'Enqueue',
    description: 'All or nothing. A job with an id of its own may be enqueued again: it is a duplicate then.',
    params: NamePath,
    querystring: QueueQuery,
    described: { 'Idempotency-Key': 'For a request with one job: its idempotencyKey.' },
    body: Body,
    response: answers(enqueued, ...BODY),
  }
  const options = { schema, bodyLimit: limits.maxAppendBytes, config: { beginsQueue: true } }
  app.post('/queues/:name/jobs', options, async (request, reply) => {
    const key = headerOf(request, 'Idempotency-Key')
    const given = newJobs(request.body, request.jsonText, key)
    await checkParents(known, request, given, request.params.name)
    await app.bodyTurns.again(request)
    const named = given.map((job) => withParents(request, job, request.params.name))
    const results = await open(request).enqueueMany(named)
    const jobs = results.map(({ id, duplicate }) => ({ id, duplicate }))
    return reply.code(jobs.every(({ duplicate }) => duplicate) ? 200 : 201).send({ jobs })
  })
}
