import { Cluster, Redis } from 'ioredis'
import { ioredis } from '../../src/drivers/ioredis.ts'
import type { VectorPlace } from '../../src/testing/vector-player.ts'

export type Place = Omit<VectorPlace, 'contracts'> & { close(): Promise<void> }

export function onServer(port: number): Place {
  const client = new Redis({ host: '127.0.0.1', port })
  return place(client, () => [client])
}

export async function onCluster(ports: readonly number[]): Promise<Place> {
  const client = new Cluster(ports.map((port) => ({ host: '127.0.0.1', port })))
  await client.ping()
  return place(client, () => client.nodes('master'))
}

function place(client: Redis | Cluster, masters: () => Redis[]): Place {
  const driver = ioredis(client)
  return {
    driver,
    async flushScripts() {
      await Promise.all(masters().map((master) => master.script('FLUSH')))
    },
    async close() {
      await driver.close()
      client.disconnect()
    },
  }
}
