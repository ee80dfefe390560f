// The load, in a process of its own: connections that each send the next request when the answer to the
// last one is whole. Told what to do by messages of its parent, one job after the other.

import { Connection } from './connection.ts'

/** What the parent sends. */
export interface Job {
  readonly host: string
  readonly port: number
  readonly connections: number
  /** Whole requests, sent in turn; each connection begins elsewhere in the list. */
  readonly requests: readonly string[]
  /** Requests of all connections together. */
  readonly count: number
  /** The job ends early after this time. */
  readonly limitMs: number
}

/** What comes back. */
export interface Load {
  readonly latenciesMs: Float64Array
  readonly seconds: number
  /** Answers that were not 2xx, and connections that broke. */
  readonly errors: number
  /** Of this process, for each request. */
  readonly clientCpuUs: number
}

async function work(job: Job): Promise<Load> {
  const connections = Array.from({ length: job.connections }, (_, at) => new Connection(job, at))
  await openAll(connections)
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
  for (const connection of connections) connection.close()
  const clientCpuUs = (user + system) / latenciesMs.length
  return { latenciesMs: Float64Array.from(latenciesMs), seconds, errors, clientCpuUs }
}

const AT_ONCE = 200 // below the backlog of a listening socket

async function openAll(connections: readonly Connection[]): Promise<void> {
  for (let at = 0; at < connections.length; at += AT_ONCE) {
    await Promise.all(connections.slice(at, at + AT_ONCE).map((connection) => connection.open()))
  }
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
