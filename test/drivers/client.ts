// The client libraries under test. Each driver has a file in clients/, called as its public name is; the suites
// find it by that name.

import type { Driver } from '../../src/driver.ts'
import type { OpenedDriver } from '../../src/testing/driver-suite.ts'
import tsconfig from '../../tsconfig.json' with { type: 'json' }
import { WIDE } from '../proof.ts'

export type OpenSingle = (port: number) => Promise<OpenedDriver>
export type OpenCluster = (ports: readonly number[]) => Promise<OpenedDriver>
export type OpenSentinel = (ports: readonly number[], name: string) => Promise<OpenedDriver>

/** The ways to make a driver of a library, by what they are called, for each kind of deployment. */
export interface Client {
  readonly singles: Readonly<Record<string, OpenSingle>>
  readonly clusters: Readonly<Record<string, OpenCluster>>
  readonly sentinels: Readonly<Record<string, OpenSentinel>>
}

export const HOST = '127.0.0.1'

/** The ways of every library, or the usual one of each; see proof.ts. Throws when a driver has no file in clients/. */
export async function waysToOpen<Kind extends keyof Client>(
  kind: Kind,
): Promise<[name: string, open: Client[Kind][string]][]> {
  return (await clients()).flatMap((client) => waysOf(client, kind).slice(0, WIDE ? undefined : 1))
}

/** The way that is called so. */
export async function wayToOpen<Kind extends keyof Client>(
  kind: Kind,
  wanted: string,
): Promise<Client[Kind][string]> {
  const way = (await clients()).flatMap((client) => waysOf(client, kind)).find(([name]) => name === wanted)
  if (way === undefined) throw new Error(`there is no way ${wanted}`)
  return way[1]
}

function waysOf<Kind extends keyof Client>(client: Client, kind: Kind): [string, Client[Kind][string]][] {
  return Object.entries(client[kind]) as [string, Client[Kind][string]][]
}

async function clients(): Promise<Client[]> {
  const drivers = Object.entries(tsconfig.compilerOptions.paths).flatMap(([name, [file]]) =>
    file?.startsWith('./src/drivers/') ? name.replace('perilune/', '') : [],
  )
  return Promise.all(
    drivers.map(async (name) => {
      const { client }: { client: Client } = await import(new URL(`clients/${name}.ts`, import.meta.url).href)
      return client
    }),
  )
}

export function at(ports: readonly number[]): { host: string; port: number }[] {
  return ports.map((port) => ({ host: HOST, port }))
}

export function opened(
  driver: Driver,
  ping: () => Promise<unknown>,
  closeClient: () => unknown,
): OpenedDriver {
  const close = async (): Promise<void> => {
    await driver.close()
    await closeClient()
  }
  return { driver, ping, close }
}
