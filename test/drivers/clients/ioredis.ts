import * as newest from 'ioredis'
import * as oldest from 'ioredis-lowest'
import { ioredis } from '../../../src/drivers/ioredis.ts'
import type { OpenedDriver } from '../../../src/testing/driver-suite.ts'
import { at, type Client, HOST, opened } from '../client.ts'

const { Cluster, Redis } = newest
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of what is used here, both versions have the same
const lowest = oldest as unknown as typeof newest

export const client: Client = {
  singles: {
    ioredis: (port) => open(new Redis({ host: HOST, port })),
    'ioredis that does not resend, with a commandTimeout': (port) =>
      open(new Redis({ host: HOST, port, autoResendUnfulfilledCommands: false, commandTimeout: 700 })),
    'ioredis with auto-pipelining, on RESP2': (port) =>
      open(new Redis({ host: HOST, port, enableAutoPipelining: true, protocol: 2 })),
    'the lowest ioredis': (port) => open(new lowest.Redis({ host: HOST, port })),
  },
  clusters: {
    ioredis: (ports) => open(new Cluster(at(ports))),
    'ioredis with auto-pipelining and a commandTimeout': (ports) =>
      open(
        new Cluster(at(ports), {
          enableAutoPipelining: true,
          redisOptions: { protocol: 2, commandTimeout: 700 },
        }),
      ),
    'ioredis whose nodes reconnect without resending': (ports) =>
      open(
        new Cluster(at(ports), {
          clusterNodeRetryStrategy: () => 20,
          redisOptions: { autoResendUnfulfilledCommands: false },
        }),
      ),
    'the lowest ioredis': (ports) => open(new lowest.Cluster(at(ports))),
  },
  sentinels: {
    ioredis: (ports, name) => open(new Redis({ sentinels: at(ports), name })),
    'ioredis that listens to the Sentinels': (ports, name) =>
      open(new Redis({ sentinels: at(ports), name, failoverDetector: true })),
    'the lowest ioredis': (ports, name) => open(new lowest.Redis({ sentinels: at(ports), name })),
  },
}

async function open(connection: newest.Redis | newest.Cluster): Promise<OpenedDriver> {
  connection.on('error', () => undefined)
  await connection.call('PING')
  return opened(
    ioredis(connection),
    () => connection.call('PING'),
    () => connection.disconnect(),
  )
}
