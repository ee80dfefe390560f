// One process of a soak of the queue: it enqueues jobs and works on jobs until it is stopped or dies.

import { batch, type ClaimedJob, LeaseLostError, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { seeded } from '../random.ts'
import { breakScripts } from '../script-sabotages.ts'
import { DetachedLoader } from './borrower.ts'
import { dyingAt } from './death.ts'
import { Diary, type Held, isOutOfReach } from './diary.ts'
import { Log, type Outcome } from './log.ts'
import { logKeyOf, NAMESPACE, type PartyOrder } from './order.ts'
import { onServer, openPlace } from './place.ts'
import { FAILED, hasSteps, type Jobs, type Plan, planNext } from './plan.ts'
import { Producer } from './producer.ts'
import { queueSabotages } from './sabotages.ts'

class PlannedError extends Error {
  override name = 'PlannedError'
}

const order = JSON.parse(process.argv[2] ?? '') as PartyOrder
const client = openPlace(order.place)
const logClient = openPlace(onServer(order.logPort))
const log = new Log(logClient, logKeyOf(order.queues.main), order.by)
const diary = new Diary(log)
const redis = perilune(dyingAt(order.dies, driver()), {
  namespace: NAMESPACE,
  deadline: `${order.deadlineMs}ms`,
})

process.once('disconnect', () => process.exit(1)) // its parent has died
process.on('unhandledRejection', (reason) => broken(`unhandled: ${String(reason)}`))
const rest = heard('rest')
const close = heard('close')

const random = seeded(order.seed)
const open = (queue: 'main' | 'after') => redis.queue<Jobs>(order.queues[queue])
const workers = (['main', 'after'] as const)
  .slice(0, hasSteps(order.kind) ? 2 : 1)
  .map((queue) => work(queue))
const borrower = order.borrows ? new DetachedLoader(open('main'), order, diary, random) : null
void borrower?.borrow().catch((error: unknown) => broken(String(error)))
process.send?.('ready')
const producers = Array.from({ length: order.producers }, (_, at) => {
  const by = at === 0 ? order.by : `${order.by}-${at}`
  return new Producer({ ...order, by }, { main: open('main'), after: open('after') }, log, random)
})
void rest.then(() => producers.forEach((producer) => producer.stop()))
await Promise.all(producers.map((producer) => producer.produce()))
process.send?.('rested')
await close
await Promise.all([borrower?.close(), ...workers.map((worker) => worker.close())])
await log.flush()
await redis.close()
process.exit(0)

function driver() {
  const sabotage = queueSabotages.find(({ what }) => what === order.sabotage)
  return sabotage === undefined ? ioredis(client) : breakScripts(ioredis(client), sabotage)
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
      onSettled: (job) => void diary.settled(queue, toHeld(job), job.outcome as Outcome),
      onError: (error, job) => failed(queue, error, job),
    },
  )
}

async function attempt(queue: 'main' | 'after', job: ClaimedJob<Plan>): Promise<string> {
  const { ref, ms, fails, poison } = job.payload
  const held = toHeld(job)
  job.signal.addEventListener('abort', () => void diary.settled(queue, held, 'lost'))
  await diary.began(queue, held, job.expiresAtMs)
  process.send?.('at work')
  if (poison) process.kill(process.pid, 'SIGKILL')
  await new Promise((resolve) => setTimeout(resolve, ms))
  const throws = job.attempt <= fails
  await diary.ending(queue, held, throws)
  if (throws) throw new PlannedError(`attempt ${job.attempt} of ${ref}`)
  await end(queue, job)
  return ref
}

/** Ends the job as planned; an attempt without an answer has failed. */
async function end(queue: 'main' | 'after', job: ClaimedJob<Plan>): Promise<void> {
  const { ends, ref } = job.payload
  const held = toHeld(job)
  try {
    if (ends === 'fail') await job.fail({ kind: FAILED })
    if (ends !== 'advance') return
    await diary.advancing(held)
    await job.ackAndEnqueue({ queue: order.queues.after, ...planNext(job.payload) })
    await diary.advanced(held)
  } catch (error) {
    if (!isOutOfReach(error)) throw error
    await diary.settled(queue, held, 'unknown')
    throw new PlannedError(`${ends} of ${ref}`)
  }
}

function toHeld(job: ClaimedJob): Held {
  const { id, token, attempt: nth, maxAttempts, group } = job
  return { ref: (job.payload as Plan).ref, id, token, attempt: nth, maxAttempts, group }
}

function failed(queue: 'main' | 'after', error: unknown, job: ClaimedJob | null): void {
  if (error instanceof PlannedError) return
  const outOfReach = isOutOfReach(error)
  if (job !== null && error instanceof LeaseLostError) void diary.settled(queue, toHeld(job), 'lost')
  else if (job !== null && outOfReach) void diary.settled(queue, toHeld(job), 'unknown')
  else if (!outOfReach) broken(String(error))
}

function broken(what: string): void {
  void log.write({ kind: 'broken', what })
}
