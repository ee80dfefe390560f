// A contender set up for a measurement: connections, clients, and how many commands went over the wire.

import { Redis } from 'ioredis'
import { firstLine } from '../harness/first-line.ts'
import type { Client, Contender, Source, Terms } from './contender.ts'

export interface Stand {
  readonly contender: Contender
  readonly clients: readonly Client[]
  /** Commands sent so far by all connections together, by name; those inside scripts are not sent. */
  readonly sent: ReadonlyMap<string, number>
  close(): Promise<void>
}

export interface Crew {
  readonly port: number
  readonly clients: number
  /** Each client gets a connection of its own, or all share one if the contender can. */
  readonly connections: 'own' | 'shared'
}

/** Throws when the contender cannot run here. */
export async function openStand(contender: Contender, terms: Terms, crew: Crew): Promise<Stand> {
  const own = crew.connections === 'own' || contender.ownConnection === true
  const connections = Array.from({ length: own ? crew.clients : 1 }, () => new Redis(crew.port))
  const close = async (sources: readonly Source[]): Promise<void> => {
    await Promise.all(sources.map((source) => source.close()))
    for (const connection of connections) connection.disconnect()
  }
  try {
    const sources = await Promise.all(connections.map((connection) => contender.connect(connection, terms)))
    const clients = Array.from({ length: crew.clients }, (_, at) => clientOf(sources, at))
    const all = [...connections, ...sources.flatMap((source) => source.connections ?? [])]
    return { contender, clients, sent: countSent(all), close: () => close(sources) }
  } catch (error) {
    await close([])
    throw error
  }
}

function clientOf(sources: readonly Source[], at: number): Client {
  const source = sources[at % sources.length]
  if (source === undefined) throw new Error('a stand without a connection')
  return source.client()
}

function countSent(connections: readonly Redis[]): Map<string, number> {
  const sent = new Map<string, number>()
  for (const connection of connections) {
    const send = connection.sendCommand.bind(connection)
    connection.sendCommand = (command, ...rest): unknown => {
      const name = command.name.toLowerCase()
      sent.set(name, (sent.get(name) ?? 0) + 1)
      return send(command, ...rest)
    }
  }
  return sent
}

export interface Opened {
  readonly stands: readonly Stand[]
  /** Why a contender is not measured. */
  readonly skipped: Readonly<Record<string, string>>
}

export async function openStands(
  contenders: readonly Contender[],
  terms: Terms,
  crew: Crew,
): Promise<Opened> {
  const stands: Stand[] = []
  const skipped: Record<string, string> = {}
  for (const contender of contenders) {
    try {
      stands.push(await openStand(contender, terms, crew))
    } catch (error) {
      skipped[contender.name] = firstLine(error)
    }
  }
  return { stands, skipped }
}
