// One process of a soak of the queue: it enqueues jobs and works on whatever there is, until it is told to stop, or dies.

import { Redis } from 'ioredis'
import { AmbiguousError, batch, type ClaimedJob, DriverError, LeaseLostError, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { seeded } from '../random.ts'
import { breakScripts } from '../script-sabotages.ts'
import { dyingAt } from './death.ts'
import { Log, type Outcome } from './log.ts'
import { logKeyOf, NAMESPACE, type PartyOrder } from './order.ts'
import type { Jobs, Plan } from './plan.ts'
import { Producer } from './producer.ts'

class PlannedError extends Error {
  override name = 'PlannedError'
}

const order = JSON.parse(process.argv[2] ?? '') as PartyOrder
const options = { maxRetriesPerRequest: null, retryStrategy: () => 50 }
const [client, logClient] = [order.port, order.logPort].map((port) => new Redis({ port, ...options })) as [
  Redis,
  Redis,
]
for (const each of [client, logClient]) each.on('error', () => undefined)
const log = new Log(logClient, logKeyOf(order.queues.main), order.by)
const redis = perilune(dyingAt(order.dies, driver()), { namespace: NAMESPACE })

process.once('disconnect', () => process.exit(1)) // whoever started it has died
process.on('unhandledRejection', (reason) => broken(`unhandled: ${String(reason)}`))
const rest = heard('rest')
const close = heard('close')

const random = seeded(order.seed)
const open = (queue: 'main' | 'after') => redis.queue<Jobs>(order.queues[queue])
const workers = (['main', 'after'] as const)
  .slice(0, order.kind === 'families' ? 2 : 1)
  .map((queue) => work(queue))
process.send?.('ready')
const producer = new Producer(order, { main: open('main'), after: open('after') }, log, random)
void rest.then(() => producer.stop())
await producer.produce()
process.send?.('rested')
await close
await Promise.all(workers.map((worker) => worker.close()))
await log.flush()
await redis.close()
process.exit(0)

function driver() {
  return order.sabotage === null ? ioredis(client) : breakScripts(ioredis(client), order.sabotage)
}

async function heard(word: string): Promise<void> {
  await new Promise<void>((resolve) => {
    process.on('message', (message) => message === word && resolve())
  })
}

function work(queue: 'main' | 'after') {
  const one = (job: ClaimedJob<Plan>): Promise<string> => attempt(queue, job)
  const many = batch<Plan>({ size: 4, within: '10ms' }, (jobs) =>
    Promise.all(jobs.map((job) => one(job).catch((error: Error) => error))),
  )
  return open(queue).work(
    { one, many },
    {
      concurrency: 6,
      prefetch: order.prefetch,
      lease: `${order.leaseMs}ms`,
      onSettled: (job) => settled(queue, job, job.outcome as Outcome),
      onError: (error, job) => failed(queue, error, job),
    },
  )
}

async function attempt(queue: 'main' | 'after', job: ClaimedJob<Plan>): Promise<string> {
  const { ref, ms, fails, poison } = job.payload
  const { number, token, attempt: nth, maxAttempts, group, expiresAtMs: endsAtMs } = job
  const began = { kind: 'began', number, token, attempt: nth, maxAttempts, group, endsAtMs } as const
  await log.write({ queue, ref, ...began })
  if (poison) process.kill(process.pid, 'SIGKILL')
  await new Promise((resolve) => setTimeout(resolve, ms))
  const throws = nth <= fails
  await log.write({ queue, ref, kind: 'ending', token, throws })
  // Nobody is told of it any more.
  if (!job.isClaimed) settled(queue, job, 'lost')
  if (throws) throw new PlannedError(`attempt ${nth} of ${ref}`)
  return ref
}

function settled(queue: 'main' | 'after', { payload, token }: ClaimedJob, outcome: Outcome): void {
  void log.write({ queue, kind: 'settled', ref: (payload as Plan).ref, token, outcome })
}

function failed(queue: 'main' | 'after', error: unknown, job: ClaimedJob | null): void {
  if (error instanceof PlannedError) return
  const outOfReach = error instanceof AmbiguousError || error instanceof DriverError
  if (job !== null && error instanceof LeaseLostError) settled(queue, job, 'lost')
  else if (job !== null && outOfReach) settled(queue, job, 'unknown')
  else if (!outOfReach) broken(String(error))
}

function broken(what: string): void {
  void log.write({ kind: 'broken', what })
}
