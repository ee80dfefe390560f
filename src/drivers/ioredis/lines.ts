import type { Cluster, Redis } from 'ioredis'
import { ConnectionLostError, type Driver, type Reply } from '../../driver.ts'
import { addressOf, isCluster, nodeAt, ownerOf, peerOf, straightTo } from './client.ts'
import { senderOf } from './commands.ts'
import { openLine } from './line.ts'
import { type Line, type LineEvents, type Lines, type ChannelPlace, touchOf } from '../wire/line.ts'
import { isSameProcess } from '../channels/same-process.ts'
import { Sharding } from '../channels/sharded-channels.ts'
import { hasSubscriber } from '../wire/wire.ts'

/** How the driver sends its calls. */
interface Commands extends Pick<Driver, 'read' | 'write' | 'info'> {
  follow(send: () => Promise<unknown>, node: Redis): Promise<Reply>
}

export class IoredisLines implements Lines {
  readonly #client: Redis | Cluster
  readonly #commands: Commands
  readonly #sharding: Sharding

  constructor(client: Redis | Cluster, commands: Commands) {
    this.#client = client
    this.#commands = commands
    this.#sharding = new Sharding(() => commands.info())
  }

  async placeOf(channel: string): Promise<ChannelPlace> {
    if (!isCluster(this.#client)) return { addresses: placesOf(this.#client), onlyFirst: false }
    const owner = (await this.#sharding.isOn()) ? ownerOf(this.#client, channel) : undefined
    const others = this.#client.nodes('master').map(addressOf)
    if (owner === undefined) return { addresses: others, onlyFirst: false }
    return { addresses: [owner, ...others.filter((address) => address !== owner)], onlyFirst: true }
  }

  async open(address: string, events: LineEvents): Promise<Line> {
    if (!isCluster(this.#client))
      return openLine(this.#client, address === '' ? {} : straightTo(address, this.#client), false, events)
    const like = nodeAt(this.#client, address) ?? this.#client.nodes('master')[0]
    if (like === undefined) throw new ConnectionLostError('the cluster has no node', false)
    const colon = address.lastIndexOf(':')
    const place = {
      host: address.slice(0, colon) || like.options.host || '127.0.0.1',
      port: Number(address.slice(colon + 1)),
    }
    return openLine(like, place, await this.#sharding.isOn(), events)
  }

  touch(channel: string): Promise<unknown> {
    return this.#commands.write(touchOf(channel))
  }

  async leadsTo(line: Line, address: string, channel: string): Promise<boolean> {
    if (!isCluster(this.#client)) return isSameProcess(line, this.#commands)
    if (!(await this.#sharding.isOn())) return true
    const node = nodeAt(this.#client, address)
    if (node === undefined) throw new ConnectionLostError(`no connection to ${address}`, false)
    const answer = await this.#commands.follow(
      () => senderOf(node)('PUBSUB', ['SHARDNUMSUB', channel], false),
      node,
    )
    return hasSubscriber(answer)
  }
}

/**
 * Connects as the client does. That may lead to another server by now, because Sentinel has named another primary or a
 * name has another address. The line then goes to the peer of the client's connection.
 */
function placesOf(client: Redis): string[] {
  const peer = client.options.Connector ? undefined : peerOf(client)
  return peer === undefined ? [''] : ['', peer]
}
