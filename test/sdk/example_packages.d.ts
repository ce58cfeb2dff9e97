/** The packages that the examples of the README import, as far as they use them. */
declare module 'react' {
  export function useEffect(run: () => void, when: readonly unknown[]): void
  export function useRef<Value>(value: Value): { current: Value }
}
declare module 'react-native-mmkv' {
  export class MMKV {
    constructor(options: { id: string })
    getString(key: string): string | undefined
    set(key: string, value: string): void
    delete(key: string): void
    getAllKeys(): string[]
  }
}
declare module 'react-native-iap' {
  export function getAvailablePurchases(): Promise<{ productId: string; purchaseToken?: string | null }[]>
}
declare module '@capgo/native-purchases' {
  export const NativePurchases: {
    purchaseProduct(one: {
      productIdentifier: string
    }): Promise<{ transactionId: string; jwsRepresentation?: string; productIdentifier: string }>
  }
}
