import type { Node } from 'luaparse'

/** The nodes that a node consists of, by the name of its part; parts that are no nodes are left out. */
export function partsOf(node: Node): [part: string, nodes: Node[]][] {
  return Object.entries(node).map(([part, value]: [string, unknown]) => {
    const values: unknown[] = Array.isArray(value) ? value : [value]
    return [part, values.filter(isNode)]
  })
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}
