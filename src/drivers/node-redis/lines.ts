import type { Driver, Reply } from '../../driver.ts'
import { type Line, type LineEvents, type Lines, type ChannelPlace, touchOf } from '../wire/line.ts'
import type { NodeClient } from './client.ts'
import type { Connections } from './connections.ts'
import { explain } from './errors.ts'
import { openLine } from './line.ts'
import { isSameProcess } from '../channels/same-process.ts'
import { Sharding } from '../channels/sharded-channels.ts'
import { hasSubscriber } from '../wire/wire.ts'

/** How the driver sends its calls. */
interface Commands extends Pick<Driver, 'read' | 'write' | 'info'> {
  ask(node: NodeClient, words: string[]): Promise<Reply>
}

export class NodeRedisLines implements Lines {
  readonly #connections: Connections
  readonly #commands: Commands
  readonly #sharding: Sharding

  constructor(connections: Connections, commands: Commands) {
    this.#connections = connections
    this.#commands = commands
    this.#sharding = new Sharding(() => commands.info())
  }

  async placeOf(channel: string): Promise<ChannelPlace> {
    const isSharded = await this.#isSharded()
    return { addresses: this.#connections.addresses(isSharded ? channel : undefined), onlyFirst: isSharded }
  }

  async open(address: string, events: LineEvents): Promise<Line> {
    // With `nodeAddressMap` the client of a known node has another address.
    const isKnown = this.#connections.addresses().includes(address)
    const node = await this.#nodeAt(address)
    return openLine(node, isKnown ? {} : socketOf(address), await this.#isSharded(), events)
  }

  touch(channel: string): Promise<unknown> {
    return this.#commands.write(touchOf(channel))
  }

  async leadsTo(line: Line, address: string, channel: string): Promise<boolean> {
    if (!this.#connections.cluster) return isSameProcess(line, this.#commands)
    if (!(await this.#sharding.isOn())) return true
    const node = await this.#nodeAt(address)
    return hasSubscriber(await this.#commands.ask(node, ['PUBSUB', 'SHARDNUMSUB', channel]))
  }

  async #isSharded(): Promise<boolean> {
    return this.#connections.cluster && (await this.#sharding.isOn())
  }

  #nodeAt(address: string): Promise<NodeClient> {
    return this.#connections.nodeAt(address).catch((error: unknown) => {
      throw explain(error)
    })
  }
}

function socketOf(address: string): object {
  const colon = address.lastIndexOf(':')
  const host = address.slice(0, colon)
  const port = Number(address.slice(colon + 1))
  return host === '' ? { port } : { host, port }
}
