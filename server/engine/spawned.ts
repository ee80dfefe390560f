// A private redis-server on this machine.
import { basename } from 'node:path'
import { connectTo } from './connection.ts'
import type { Engine, EngineOptions } from './engine.ts'
import type { Home } from './home.ts'
import { PrivateServer } from './private-server.ts'
import { readSettings } from './settings.ts'

/** Starts `executable` on the data directory, or adopts the server that a killed service left there. */
export async function useSpawned(executable: string, home: Home, options: EngineOptions): Promise<Engine> {
  const server = new PrivateServer(executable, home, options)
  try {
    await server.begin()
    const url = `redis://127.0.0.1:${server.port}`
    const client = await connectTo(url)
    const settings = await readSettings(client).finally(() => client.disconnect())
    return {
      url,
      kind: 'spawned',
      description: `private ${basename(executable)} on port ${server.port}, data in ${home.data}`,
      ...settings,
      obstacle: () => server.obstacle,
      serves: (address) => home.serves(address),
      stop: () => server.stop(),
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}
