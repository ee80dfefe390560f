// The load, in a process of its own: connections that each send the next request when the answer to the
// last one is whole. It gets its jobs by messages of its parent, one after the other.

import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from './connection.ts'
import { type Job, type Load, OPEN } from './job.ts'

async function work(job: Job): Promise<Load> {
  const connections = Array.from({ length: job.connections }, (_, at) => new Connection(job, at))
  await openAll(connections)
  await sleep(SETTLE_MS)
  process.send?.(OPEN)
  const latenciesMs: number[] = []
  const endsAt = performance.now() + job.limitMs
  let [begun, errors] = [0, 0]
  const send = async (connection: Connection): Promise<void> => {
    while (begun < job.count && performance.now() < endsAt) {
      begun++
      const from = performance.now()
      if (!(await connection.exchange())) errors++
      latenciesMs.push(performance.now() - from)
    }
  }
  const cpu = process.cpuUsage()
  const from = performance.now()
  await Promise.all(connections.map(send))
  const seconds = (performance.now() - from) / 1000
  const { user, system } = process.cpuUsage(cpu)
  // Later, so that closing does not count as part of the load.
  setTimeout(() => connections.forEach((connection) => connection.close()), SETTLE_MS)
  const clientCpuUs = (user + system) / latenciesMs.length
  const complaint = connections.find((connection) => connection.complaint !== null)?.complaint ?? null
  return { latenciesMs: Float64Array.from(latenciesMs), seconds, errors, complaint, clientCpuUs }
}

const SETTLE_MS = 50
const AT_ONCE = 200 // below the backlog of a listening socket

/** Each has one exchange that is not measured: the listening side may not know yet of one that seems open. */
async function openAll(connections: readonly Connection[]): Promise<void> {
  for (let at = 0; at < connections.length; at += AT_ONCE) {
    await Promise.all(connections.slice(at, at + AT_ONCE).map(openOne))
  }
}

async function openOne(connection: Connection): Promise<void> {
  await connection.open()
  if (!(await connection.exchange())) throw new Error(`a first request failed: ${connection.complaint}`)
}

process.on('message', (job: Job) => {
  work(job).then(
    (load) => process.send?.(load),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})
