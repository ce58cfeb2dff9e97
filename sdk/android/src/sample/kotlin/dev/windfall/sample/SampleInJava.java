/** The calls of an app in Java, with each number of arguments. */
package dev.windfall.sample;

import android.content.Context;
import dev.windfall.Windfall;
import java.util.Collections;

final class SampleInJava {
    private SampleInJava() {}

    static void run(Context context, String url) {
        Windfall.configure(context, url);
        Windfall.configure(context, url, "pk_live_1");
        Windfall.configure(context, url, "pk_live_1", "com.example.sample");
        Windfall.identify("java");
        Windfall.identify("java", Collections.singletonMap("plan", "pro"));
        Windfall.setAttributes(Collections.singletonMap("seats", 3));
        Windfall.attributePurchase("token-3");
        Windfall.attributePurchase("token-3", "pro");
        Windfall.attributePurchase("token-4", Collections.singletonList("pro"));
        Windfall.reset();
        Windfall.flush();
    }
}
