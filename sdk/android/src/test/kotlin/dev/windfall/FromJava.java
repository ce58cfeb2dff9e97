package dev.windfall;

import android.content.Context;
import android.util.Log;
import com.android.billingclient.api.Purchase;
import java.util.Collections;

/** Every function of the SDK with each number of arguments, as Java calls it. */
final class FromJava {
    private FromJava() {}

    /** The Java of the README, as it is printed there. */
    static void readme(Context context, Purchase purchase) {
        Windfall.configure(context, "https://windfall.example.com");
        Windfall.identify("user-1", Collections.singletonMap("plan", "pro"));
        Windfall.attributePurchase(purchase.getPurchaseToken(), purchase.getProducts());
        Windfall.flush(() -> Log.d("app", "sent"));
        Windfall.debugState(state -> Log.d("app", state.toString()));
    }

    /** Nothing that Java can pass throws into the app. */
    static void nulls() {
        Windfall.identify(null);
        Windfall.identify(null, null);
        Windfall.identify(null, null, null);
        Windfall.setAttributes(null);
        Windfall.setAttributes(null, null);
        Windfall.attributePurchase(null);
        Windfall.attributePurchase(null, (String) null);
        Windfall.attributePurchase(null, (java.util.List<String>) null);
        Windfall.reset(null);
        Windfall.flush(null);
        Windfall.debugState(null);
    }

    static void configureWithNulls(Context context) {
        Windfall.configure(null, null);
        Windfall.configure(context, null, null, null, null);
    }

    /** Generics of Java keep no other types out. */
    @SuppressWarnings({"rawtypes", "unchecked"})
    static void otherTypes() {
        Windfall.attributePurchase("token-1", (java.util.List) Collections.singletonList(1));
        Windfall.setAttributes((java.util.Map) Collections.singletonMap(1, new Object()));
    }
}
