import { readdirSync, readFileSync } from 'node:fs'
import type { Contract } from '../../src/testing/vector-contract.ts'
import { parseVectors, type VectorFile } from '../../src/testing/vector-file.ts'

/** The folders of lua/ but the shared one; each has its vectors here. */
export const STRUCTURES: readonly string[] = readdirSync(new URL('../../lua/', import.meta.url), {
  withFileTypes: true,
})
  .filter((entry) => entry.isDirectory() && entry.name !== 'shared')
  .map(({ name }) => name)

export function readText(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}

export function readContract(path = '../../lua/contract.json'): Contract {
  const contract: Contract = JSON.parse(readText(path))
  return contract
}

export function readVectors(structure: string): VectorFile {
  return parseVectors(readText(`${structure}.json`))
}

export interface Names {
  readonly namespace: string
  readonly structure: string
  readonly names: readonly { readonly name: string; readonly prefix: string }[]
}

export function readNames(): Names {
  const names: Names = JSON.parse(readText('names.json'))
  return names
}

export interface Folding {
  readonly texts: readonly {
    readonly text: string
    readonly folded: string
    readonly words: readonly string[]
  }[]
}

export function readFolding(): Folding {
  const folding: Folding = JSON.parse(readText('folding.json'))
  return folding
}
