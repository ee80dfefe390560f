import { Type } from '@fastify/type-provider-typebox'
import type { App } from '../fastify.ts'
import { answers, BODY } from '../v1/answers.ts'
import { duration } from '../v1/arguments.ts'
import { NamePath, NoQuery, strict } from '../v1/coordination/arguments.ts'
import type { Parts } from '../v1/coordination/lending.ts'
import { headerOf } from '../v1/headers.ts'
import { enqueued } from '../v1/queues/answers.ts'
import { jobOptions, text, unique } from '../v1/queues/arguments.ts'
import type { Open } from '../v1/queues/open.ts'
import { newJobs } from '../v1/queues/to-the-letter.ts'

const NewJob = Type.Object(
  {
    name: Type.String({ description: 'What kind of job it is.' }),
    payload: Type.Unknown({ description: 'Any JSON; stored to the letter.' }),
    id: text('What to call the job; not digits alone. One that is still known is not enqueued again.'),
    delay: duration('How long until the job is ready; default: it is at once.'),
    ...jobOptions,
    unique,
    idempotencyKey: text(
      'A job with the same key within 24 hours is a duplicate, whatever became of the first.',
    ),
  },
  strict,
)
const Body = Type.Union([
  Type.Object({ jobs: Type.Array(NewJob, { minItems: 1, maxItems: 1000 }) }, strict),
  NewJob,
])

export function enqueueJobs(app: App, { limits }: Parts, open: Open): void {
  const schema = {
    tags: ['queues'],
    summary: 'Enqueue',
    description: 'All or nothing. A job with an id of its own may be enqueued again: it is a duplicate then.',
    params: NamePath,
    querystring: NoQuery,
    described: { 'Idempotency-Key': 'For a request with one job: its idempotencyKey.' },
    body: Body,
    response: answers(enqueued, ...BODY),
  }
  const options = { schema, bodyLimit: limits.maxAppendBytes }
  app.post('/queues/:name/jobs', options, async (request, reply) => {
    const key = headerOf(request, 'Idempotency-Key')
    const results = await open(request).enqueueMany(newJobs(request.body, request.jsonText, key))
    const jobs = results.map(({ id, duplicate }) => ({ id, duplicate }))
    return reply.code(jobs.every(({ duplicate }) => duplicate) ? 200 : 201).send({ jobs })
  })
}
