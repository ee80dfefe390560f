// The databases that all test files of a run share. They are started when the first test asks, for most files need
// none.
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DatabaseServer } from './database-server.ts'
import { startMariadb } from './mariadb.ts'
import { startPostgres } from './postgres.ts'

export type DatabaseKind = 'postgres' | 'mariadb'

const STARTERS: Record<DatabaseKind, () => Promise<DatabaseServer>> = {
  postgres: startPostgres,
  mariadb: startMariadb,
}

export interface Databases {
  /** The address where `GET /postgres` is answered with the port of PostgreSQL. */
  readonly port: number
  stop(): Promise<void>
}

export async function offerDatabases(): Promise<Databases> {
  const started = new Map<DatabaseKind, Promise<DatabaseServer>>()
  const portOf = async (kind: DatabaseKind): Promise<number> => {
    const server = started.get(kind) ?? STARTERS[kind]()
    started.set(kind, server)
    return (await server).port
  }
  const listener = createServer((request, response) => {
    void answer(response, portOf(request.url?.slice(1) as DatabaseKind))
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address() as AddressInfo
  return { port, stop: () => stopAll(listener, [...started.values()]) }
}

async function answer(response: ServerResponse, port: Promise<number>): Promise<void> {
  try {
    response.end(String(await port))
  } catch (error) {
    response.statusCode = 500
    response.end(String(error))
  }
}

async function stopAll(listener: Server, started: readonly Promise<DatabaseServer>[]): Promise<void> {
  listener.close()
  listener.closeAllConnections()
  // One that did not start has cleaned up by itself.
  await Promise.allSettled(started.map(async (server) => (await server).stop()))
}
