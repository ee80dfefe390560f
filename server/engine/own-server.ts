// What servers that we run ourselves have in common, on the machine or in a container.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { connectTo } from './connection.ts'
import { EngineError } from './engine.ts'

/** The connection that a running service holds open, so that a second service sees the first. */
const SERVICE = 'perilune-service'

/** The settings of every server of ours. */
export function serverArguments(env: Readonly<Record<string, string | undefined>>): string[] {
  const fsync = env['PERILUNE_FSYNC'] ?? 'everysec'
  if (fsync !== 'everysec' && fsync !== 'always')
    throw new EngineError('PERILUNE_FSYNC must be everysec or always')
  const files = ['--appendonly', 'yes', '--appendfsync', fsync, '--save', '']
  return [...files, '--maxmemory-policy', 'noeviction', '--lazyfree-lazy-expire', 'yes']
}

/** Takes the server for this service; refuses if another service that still runs has it. */
export async function occupy(url: string): Promise<Redis> {
  const client = await connectTo(url)
  try {
    // The server may not yet have noticed that the previous service has died.
    for (let check = 1; await isOccupied(client); check++) {
      if (check === 20)
        throw new EngineError(
          'another perilune service is already running on this data directory: stop it, or set PERILUNE_DATA to another one',
        )
      await sleep(50)
    }
    await client.client('SETNAME', SERVICE)
    return client
  } catch (error) {
    client.disconnect()
    throw error
  }
}

async function isOccupied(client: Redis): Promise<boolean> {
  return String(await client.client('LIST')).includes(` name=${SERVICE} `)
}
